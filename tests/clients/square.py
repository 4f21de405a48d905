"""The Vulkan side of the Python clients, by the package `vulkan` (cffi bindings): square.spv over one mapped buffer."""

import pathlib

import vulkan as vk

here = pathlib.Path(__file__).parent


class Square:
    """A device, a buffer of `count` words in coherent memory that stays mapped, and its dispatch: v = v * v + 1."""

    def __init__(self, count):
        self.size = count * 4
        self.instance = vk.vkCreateInstance(
            vk.VkInstanceCreateInfo(
                pApplicationInfo=vk.VkApplicationInfo(
                    pApplicationName="client", apiVersion=vk.VK_MAKE_VERSION(1, 1, 0)
                )
            ),
            None,
        )
        physical = vk.vkEnumeratePhysicalDevices(self.instance)[0]
        self.name = vk.vkGetPhysicalDeviceProperties(physical).deviceName
        families = vk.vkGetPhysicalDeviceQueueFamilyProperties(physical)
        family = next(i for i, f in enumerate(families) if f.queueFlags & vk.VK_QUEUE_COMPUTE_BIT)
        queues = [vk.VkDeviceQueueCreateInfo(queueFamilyIndex=family, queueCount=1, pQueuePriorities=[1.0])]
        self.device = vk.vkCreateDevice(physical, vk.VkDeviceCreateInfo(pQueueCreateInfos=queues), None)
        self.queue = vk.vkGetDeviceQueue(self.device, family, 0)
        self._allocate(physical)
        self._describe()
        self._build()
        self._record(family, (count + 63) // 64)
        self.fence = vk.vkCreateFence(self.device, vk.VkFenceCreateInfo(), None)

    def _allocate(self, physical):
        self.buffer = vk.vkCreateBuffer(
            self.device,
            vk.VkBufferCreateInfo(
                size=self.size, usage=vk.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, sharingMode=vk.VK_SHARING_MODE_EXCLUSIVE
            ),
            None,
        )
        needs = vk.vkGetBufferMemoryRequirements(self.device, self.buffer)
        kinds = vk.vkGetPhysicalDeviceMemoryProperties(physical)
        wanted = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
        kind = next(
            i
            for i in range(kinds.memoryTypeCount)
            if needs.memoryTypeBits >> i & 1 and kinds.memoryTypes[i].propertyFlags & wanted == wanted
        )
        self.memory = vk.vkAllocateMemory(
            self.device, vk.VkMemoryAllocateInfo(allocationSize=needs.size, memoryTypeIndex=kind), None
        )
        vk.vkBindBufferMemory(self.device, self.buffer, self.memory, 0)
        self.mapped = vk.vkMapMemory(self.device, self.memory, 0, self.size, 0)

    def _describe(self):
        storage = vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
        self.layout = vk.vkCreateDescriptorSetLayout(
            self.device,
            vk.VkDescriptorSetLayoutCreateInfo(
                pBindings=[
                    vk.VkDescriptorSetLayoutBinding(
                        binding=0, descriptorType=storage, descriptorCount=1, stageFlags=vk.VK_SHADER_STAGE_COMPUTE_BIT
                    )
                ]
            ),
            None,
        )
        self.pool = vk.vkCreateDescriptorPool(
            self.device,
            vk.VkDescriptorPoolCreateInfo(
                maxSets=1, pPoolSizes=[vk.VkDescriptorPoolSize(type=storage, descriptorCount=1)]
            ),
            None,
        )
        self.sets = vk.vkAllocateDescriptorSets(
            self.device, vk.VkDescriptorSetAllocateInfo(descriptorPool=self.pool, pSetLayouts=[self.layout])
        )
        info = vk.VkDescriptorBufferInfo(buffer=self.buffer, offset=0, range=self.size)
        write = vk.VkWriteDescriptorSet(
            dstSet=self.sets[0], dstBinding=0, descriptorType=storage, descriptorCount=1, pBufferInfo=[info]
        )
        vk.vkUpdateDescriptorSets(self.device, 1, [write], 0, None)

    def _build(self):
        code = (here / "square.spv").read_bytes()
        self.module = vk.vkCreateShaderModule(
            self.device, vk.VkShaderModuleCreateInfo(codeSize=len(code), pCode=code), None
        )
        self.pipeline_layout = vk.vkCreatePipelineLayout(
            self.device, vk.VkPipelineLayoutCreateInfo(pSetLayouts=[self.layout]), None
        )
        stage = vk.VkPipelineShaderStageCreateInfo(
            stage=vk.VK_SHADER_STAGE_COMPUTE_BIT, module=self.module, pName="main"
        )
        info = vk.VkComputePipelineCreateInfo(stage=stage, layout=self.pipeline_layout)
        self.pipeline = vk.vkCreateComputePipelines(self.device, None, 1, [info], None)[0]

    def _record(self, family, groups):
        self.commands_pool = vk.vkCreateCommandPool(
            self.device, vk.VkCommandPoolCreateInfo(queueFamilyIndex=family), None
        )
        self.commands = vk.vkAllocateCommandBuffers(
            self.device,
            vk.VkCommandBufferAllocateInfo(
                commandPool=self.commands_pool, level=vk.VK_COMMAND_BUFFER_LEVEL_PRIMARY, commandBufferCount=1
            ),
        )[0]
        vk.vkBeginCommandBuffer(self.commands, vk.VkCommandBufferBeginInfo())
        point = vk.VK_PIPELINE_BIND_POINT_COMPUTE
        vk.vkCmdBindPipeline(self.commands, point, self.pipeline)
        vk.vkCmdBindDescriptorSets(self.commands, point, self.pipeline_layout, 0, 1, [self.sets[0]], 0, None)
        vk.vkCmdDispatch(self.commands, groups, 1, 1)
        barrier = vk.VkMemoryBarrier(
            srcAccessMask=vk.VK_ACCESS_SHADER_WRITE_BIT,
            dstAccessMask=vk.VK_ACCESS_HOST_READ_BIT | vk.VK_ACCESS_HOST_WRITE_BIT,
        )
        stages = (vk.VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, vk.VK_PIPELINE_STAGE_HOST_BIT)
        vk.vkCmdPipelineBarrier(self.commands, *stages, 0, 1, [barrier], 0, None, 0, None)
        vk.vkEndCommandBuffer(self.commands)

    def submit(self):
        vk.vkQueueSubmit(self.queue, 1, [vk.VkSubmitInfo(pCommandBuffers=[self.commands])], self.fence)

    def wait(self):
        vk.vkWaitForFences(self.device, 1, [self.fence], True, 10**11)
        vk.vkResetFences(self.device, 1, [self.fence])

    def close(self):
        vk.vkDestroyFence(self.device, self.fence, None)
        vk.vkDestroyCommandPool(self.device, self.commands_pool, None)
        vk.vkDestroyPipeline(self.device, self.pipeline, None)
        vk.vkDestroyPipelineLayout(self.device, self.pipeline_layout, None)
        vk.vkDestroyShaderModule(self.device, self.module, None)
        vk.vkDestroyDescriptorPool(self.device, self.pool, None)
        vk.vkDestroyDescriptorSetLayout(self.device, self.layout, None)
        vk.vkDestroyBuffer(self.device, self.buffer, None)
        vk.vkUnmapMemory(self.device, self.memory)
        vk.vkFreeMemory(self.device, self.memory, None)
        vk.vkDestroyDevice(self.device, None)
        vk.vkDestroyInstance(self.instance, None)
