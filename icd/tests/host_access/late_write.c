// Writes mapped memory that submitted work reads, before it waits. The test names lines of it.
// usage: late_write DRIVER
#define _GNU_SOURCE
#define VK_NO_PROTOTYPES
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define FUNCTIONS(f)                                                                                       \
    f(EnumeratePhysicalDevices) f(CreateDevice) f(GetDeviceQueue) f(CreateBuffer) f(AllocateMemory)        \
    f(BindBufferMemory) f(MapMemory) f(CreateCommandPool) f(AllocateCommandBuffers) f(BeginCommandBuffer)  \
    f(CmdCopyBuffer) f(EndCommandBuffer) f(QueueSubmit) f(QueueWaitIdle) f(DestroyDevice)
#define DECLARE(name) static PFN_vk##name name;
FUNCTIONS(DECLARE)

enum { SIZE = 4096 };

static VkDevice device;
static VkQueue queue;
static VkCommandBuffer commands;
static char *mapped;

static void check(VkResult result)
{
    if (result != VK_SUCCESS) exit(2);
}

static VkBuffer buffer(uint32_t type, VkBufferUsageFlags usage, void **at)
{
    VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = SIZE, .usage = usage};
    VkMemoryAllocateInfo allocate = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, NULL, SIZE, type};
    VkBuffer buffer;
    VkDeviceMemory memory;
    check(CreateBuffer(device, &info, NULL, &buffer));
    check(AllocateMemory(device, &allocate, NULL, &memory));
    check(BindBufferMemory(device, buffer, memory, 0));
    if (at) check(MapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, at));
    return buffer;
}

static void hand_in(void)
{
    VkSubmitInfo submit = {
        VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    check(QueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
}

static void *frame(void *nothing)
{
    pthread_setname_np(pthread_self(), "renderer");
    hand_in();
    memset(mapped, 1, SIZE);
    check(QueueWaitIdle(queue));
    return nothing;
}

int main(int count, char **arguments)
{
    void *library = dlopen(count > 1 ? arguments[1] : "libvulkan.so.1", RTLD_NOW);
    if (!library) return 3;
    PFN_vkGetInstanceProcAddr get = (PFN_vkGetInstanceProcAddr)dlsym(library, "vk_icdGetInstanceProcAddr");
    VkInstanceCreateInfo create = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    VkInstance instance;
    check(((PFN_vkCreateInstance)get(NULL, "vkCreateInstance"))(&create, NULL, &instance));
#define GET(name) name = (PFN_vk##name)get(instance, "vk" #name);
    FUNCTIONS(GET)
    uint32_t one = 1;
    VkPhysicalDevice physical;
    check(EnumeratePhysicalDevices(instance, &one, &physical));
    VkDeviceQueueCreateInfo queues = {
        VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &(float){1}};
    VkDeviceCreateInfo info = {
        VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queues};
    check(CreateDevice(physical, &info, NULL, &device));
    GetDeviceQueue(device, 0, 0, &queue);
    // The driver's second memory type is coherent.
    VkBuffer from = buffer(1, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, (void **)&mapped);
    VkBuffer to = buffer(0, VK_BUFFER_USAGE_TRANSFER_DST_BIT, NULL);
    VkCommandPoolCreateInfo pools = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool;
    check(CreateCommandPool(device, &pools, NULL, &pool));
    VkCommandBufferAllocateInfo allocate = {
        VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = pool, .commandBufferCount = 1};
    check(AllocateCommandBuffers(device, &allocate, &commands));
    VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    check(BeginCommandBuffer(commands, &begin));
    CmdCopyBuffer(commands, from, to, 1, &(VkBufferCopy){0, 0, SIZE});
    check(EndCommandBuffer(commands));
    pthread_t thread;
    if (pthread_create(&thread, NULL, frame, NULL) || pthread_join(thread, NULL)) return 4;
    DestroyDevice(device, NULL);
    return 0;
}
