"""The Python package `vulkan` (cffi bindings): one dispatch of square.spv, its result checked."""

import pathlib
import struct

import vulkan as vk

COUNT = 1000
here = pathlib.Path(__file__).parent

instance = vk.vkCreateInstance(
    vk.VkInstanceCreateInfo(
        pApplicationInfo=vk.VkApplicationInfo(pApplicationName="client", apiVersion=vk.VK_MAKE_VERSION(1, 1, 0))
    ),
    None,
)
physical = vk.vkEnumeratePhysicalDevices(instance)[0]
print("device:", vk.vkGetPhysicalDeviceProperties(physical).deviceName)
families = vk.vkGetPhysicalDeviceQueueFamilyProperties(physical)
family = next(i for i, f in enumerate(families) if f.queueFlags & vk.VK_QUEUE_COMPUTE_BIT)
device = vk.vkCreateDevice(
    physical,
    vk.VkDeviceCreateInfo(
        pQueueCreateInfos=[vk.VkDeviceQueueCreateInfo(queueFamilyIndex=family, queueCount=1, pQueuePriorities=[1.0])]
    ),
    None,
)
queue = vk.vkGetDeviceQueue(device, family, 0)

size = COUNT * 4
buffer = vk.vkCreateBuffer(
    device,
    vk.VkBufferCreateInfo(
        size=size, usage=vk.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, sharingMode=vk.VK_SHARING_MODE_EXCLUSIVE
    ),
    None,
)
needs = vk.vkGetBufferMemoryRequirements(device, buffer)
kinds = vk.vkGetPhysicalDeviceMemoryProperties(physical)
wanted = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
kind = next(
    i
    for i in range(kinds.memoryTypeCount)
    if needs.memoryTypeBits >> i & 1 and kinds.memoryTypes[i].propertyFlags & wanted == wanted
)
memory = vk.vkAllocateMemory(device, vk.VkMemoryAllocateInfo(allocationSize=needs.size, memoryTypeIndex=kind), None)
vk.vkBindBufferMemory(device, buffer, memory, 0)
mapped = vk.vkMapMemory(device, memory, 0, size, 0)
mapped[:] = struct.pack(f"{COUNT}I", *range(COUNT))
vk.vkUnmapMemory(device, memory)

layout = vk.vkCreateDescriptorSetLayout(
    device,
    vk.VkDescriptorSetLayoutCreateInfo(
        pBindings=[
            vk.VkDescriptorSetLayoutBinding(
                binding=0,
                descriptorType=vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                descriptorCount=1,
                stageFlags=vk.VK_SHADER_STAGE_COMPUTE_BIT,
            )
        ]
    ),
    None,
)
pool = vk.vkCreateDescriptorPool(
    device,
    vk.VkDescriptorPoolCreateInfo(
        maxSets=1,
        pPoolSizes=[vk.VkDescriptorPoolSize(type=vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptorCount=1)],
    ),
    None,
)
sets = vk.vkAllocateDescriptorSets(device, vk.VkDescriptorSetAllocateInfo(descriptorPool=pool, pSetLayouts=[layout]))
vk.vkUpdateDescriptorSets(
    device,
    1,
    [
        vk.VkWriteDescriptorSet(
            dstSet=sets[0],
            dstBinding=0,
            descriptorType=vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            descriptorCount=1,
            pBufferInfo=[vk.VkDescriptorBufferInfo(buffer=buffer, offset=0, range=size)],
        )
    ],
    0,
    None,
)

code = (here / "square.spv").read_bytes()
module = vk.vkCreateShaderModule(device, vk.VkShaderModuleCreateInfo(codeSize=len(code), pCode=code), None)
pipeline_layout = vk.vkCreatePipelineLayout(device, vk.VkPipelineLayoutCreateInfo(pSetLayouts=[layout]), None)
stage = vk.VkPipelineShaderStageCreateInfo(stage=vk.VK_SHADER_STAGE_COMPUTE_BIT, module=module, pName="main")
pipelines = vk.vkCreateComputePipelines(
    device, None, 1, [vk.VkComputePipelineCreateInfo(stage=stage, layout=pipeline_layout)], None
)
pipeline = pipelines[0]

commands_pool = vk.vkCreateCommandPool(device, vk.VkCommandPoolCreateInfo(queueFamilyIndex=family), None)
commands = vk.vkAllocateCommandBuffers(
    device,
    vk.VkCommandBufferAllocateInfo(
        commandPool=commands_pool, level=vk.VK_COMMAND_BUFFER_LEVEL_PRIMARY, commandBufferCount=1
    ),
)[0]
vk.vkBeginCommandBuffer(
    commands, vk.VkCommandBufferBeginInfo(flags=vk.VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT)
)
vk.vkCmdBindPipeline(commands, vk.VK_PIPELINE_BIND_POINT_COMPUTE, pipeline)
vk.vkCmdBindDescriptorSets(
    commands, vk.VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_layout, 0, 1, [sets[0]], 0, None
)
vk.vkCmdDispatch(commands, (COUNT + 63) // 64, 1, 1)
vk.vkCmdPipelineBarrier(
    commands,
    vk.VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
    vk.VK_PIPELINE_STAGE_HOST_BIT,
    0,
    1,
    [vk.VkMemoryBarrier(srcAccessMask=vk.VK_ACCESS_SHADER_WRITE_BIT, dstAccessMask=vk.VK_ACCESS_HOST_READ_BIT)],
    0,
    None,
    0,
    None,
)
vk.vkEndCommandBuffer(commands)
fence = vk.vkCreateFence(device, vk.VkFenceCreateInfo(), None)
vk.vkQueueSubmit(queue, 1, [vk.VkSubmitInfo(pCommandBuffers=[commands])], fence)
vk.vkWaitForFences(device, 1, [fence], True, 10**11)

mapped = vk.vkMapMemory(device, memory, 0, size, 0)
result = struct.unpack(f"{COUNT}I", bytes(mapped))
vk.vkUnmapMemory(device, memory)
assert result == tuple(i * i + 1 for i in range(COUNT)), result[:8]
print("first results:", *result[:6])

vk.vkDestroyFence(device, fence, None)
vk.vkDestroyCommandPool(device, commands_pool, None)
vk.vkDestroyPipeline(device, pipeline, None)
vk.vkDestroyPipelineLayout(device, pipeline_layout, None)
vk.vkDestroyShaderModule(device, module, None)
vk.vkDestroyDescriptorPool(device, pool, None)
vk.vkDestroyDescriptorSetLayout(device, layout, None)
vk.vkDestroyBuffer(device, buffer, None)
vk.vkFreeMemory(device, memory, None)
vk.vkDestroyDevice(device, None)
vk.vkDestroyInstance(instance, None)
print("python vulkan: ok")
