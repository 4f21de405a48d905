// Uses the driver as an application does, in ways that stress the lifetime and sharing of its memory. Run
// under sanitizers by tests/sanitize.sh.
//
// usage: driver LIBRARY SQUARE.spv [CASE...]   LIBRARY: the driver, or the Vulkan loader
#define VK_NO_PROTOTYPES
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define CHECK(call)                                                                          \
    do {                                                                                     \
        VkResult r = (call);                                                                 \
        if (r != VK_SUCCESS) { fprintf(stderr, "line %d: %s: %d\n", __LINE__, #call, r); exit(2); } \
    } while (0)
#define EXPECT(what)                                                                         \
    do {                                                                                     \
        if (!(what)) { fprintf(stderr, "line %d: not so: %s\n", __LINE__, #what); exit(3); } \
    } while (0)

#define FUNCTIONS(f)                                                                                        \
    f(GetPhysicalDeviceQueueFamilyProperties) f(CreateDevice) f(DestroyInstance) f(DestroyDevice)            \
    f(EnumeratePhysicalDevices) f(GetDeviceQueue) f(CreateCommandPool) f(DestroyCommandPool)                 \
    f(AllocateCommandBuffers) f(BeginCommandBuffer) f(EndCommandBuffer) f(QueueSubmit) f(QueueWaitIdle)      \
    f(CreateBuffer) f(DestroyBuffer) f(GetBufferMemoryRequirements) f(AllocateMemory) f(FreeMemory)          \
    f(BindBufferMemory) f(MapMemory) f(UnmapMemory) f(FlushMappedMemoryRanges)                               \
    f(InvalidateMappedMemoryRanges) f(CreateShaderModule) f(DestroyShaderModule)                             \
    f(CreateDescriptorSetLayout) f(DestroyDescriptorSetLayout) f(CreatePipelineLayout)                       \
    f(DestroyPipelineLayout) f(CreateComputePipelines) f(DestroyPipeline) f(CreateDescriptorPool)            \
    f(DestroyDescriptorPool) f(AllocateDescriptorSets) f(UpdateDescriptorSets) f(CmdBindPipeline)            \
    f(CmdBindDescriptorSets) f(CmdDispatch) f(CmdPipelineBarrier) f(CmdCopyBuffer) f(CmdFillBuffer)          \
    f(CmdUpdateBuffer) f(CreateImage) f(DestroyImage) f(GetImageMemoryRequirements) f(BindImageMemory)       \
    f(CmdCopyBufferToImage) f(CmdCopyImageToBuffer) f(CmdCopyImage) f(CmdClearColorImage) f(CreateFence)     \
    f(DestroyFence) f(WaitForFences) f(ResetFences) f(GetFenceStatus) f(CreateEvent) f(DestroyEvent)         \
    f(SetEvent) f(GetEventStatus) f(CmdSetEvent) f(CmdWaitEvents) f(CreateSemaphore) f(DestroySemaphore)     \
    f(DeviceWaitIdle) f(GetPhysicalDeviceMemoryProperties)
#define DECLARE(name) static PFN_vk##name name;
FUNCTIONS(DECLARE)

enum { N = 4096, BYTES = 4 * N };

static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queues[2];
static VkCommandPool pool;
static VkPipeline pipeline;
static VkPipelineLayout layout;
static VkDescriptorSetLayout set_layout;
static VkDescriptorPool descriptors;
static VkPhysicalDeviceMemoryProperties memory_properties;

typedef struct {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t *words;
} Buffer;

static uint32_t type_of(VkMemoryPropertyFlags flags) {
    for (uint32_t i = 0; i < memory_properties.memoryTypeCount; i++)
        if (memory_properties.memoryTypes[i].propertyFlags == flags) return i;
    exit(4);
}

static const VkMemoryPropertyFlags COHERENT =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
static const VkMemoryPropertyFlags CACHED =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

static Buffer make(VkMemoryPropertyFlags flags) {
    Buffer b = {0};
    CHECK(CreateBuffer(device,
                       &(VkBufferCreateInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                             .size = BYTES,
                                             .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                                      VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                                      VK_BUFFER_USAGE_TRANSFER_DST_BIT},
                       NULL, &b.buffer));
    CHECK(AllocateMemory(device,
                         &(VkMemoryAllocateInfo){.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                                 .allocationSize = BYTES,
                                                 .memoryTypeIndex = type_of(flags)},
                         NULL, &b.memory));
    CHECK(BindBufferMemory(device, b.buffer, b.memory, 0));
    CHECK(MapMemory(device, b.memory, 0, VK_WHOLE_SIZE, 0, (void **)&b.words));
    return b;
}

static void unmake(Buffer b) {
    DestroyBuffer(device, b.buffer, NULL);
    FreeMemory(device, b.memory, NULL);
}

static VkDescriptorSet bind(VkBuffer buffer) {
    VkDescriptorSet set;
    CHECK(AllocateDescriptorSets(
        device,
        &(VkDescriptorSetAllocateInfo){.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorPool = descriptors,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &set_layout},
        &set));
    UpdateDescriptorSets(device, 1,
                         &(VkWriteDescriptorSet){
                             .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                             .dstSet = set,
                             .descriptorCount = 1,
                             .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                             .pBufferInfo = &(VkDescriptorBufferInfo){buffer, 0, VK_WHOLE_SIZE}},
                         0, NULL);
    return set;
}

static VkCommandBuffer begin(void) {
    VkCommandBuffer c;
    CHECK(AllocateCommandBuffers(
        device,
        &(VkCommandBufferAllocateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                       .commandPool = pool,
                                       .commandBufferCount = 1},
        &c));
    CHECK(BeginCommandBuffer(
        c, &(VkCommandBufferBeginInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO}));
    return c;
}

static void barrier(VkCommandBuffer c) {
    VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                           .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                           .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT |
                                            VK_ACCESS_HOST_READ_BIT};
    CmdPipelineBarrier(c, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &all, 0, NULL, 0,
                       NULL);
}

static void dispatch(VkCommandBuffer c, VkDescriptorSet set) {
    CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    CmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    CmdDispatch(c, N / 64, 1, 1);
    barrier(c);
}

static void submit(VkQueue queue, VkCommandBuffer c, VkFence fence, VkSemaphore wait, VkSemaphore signal) {
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    CHECK(EndCommandBuffer(c));
    CHECK(QueueSubmit(queue, 1,
                      &(VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                      .commandBufferCount = 1,
                                      .pCommandBuffers = &c,
                                      .waitSemaphoreCount = wait ? 1 : 0,
                                      .pWaitSemaphores = &wait,
                                      .pWaitDstStageMask = &stage,
                                      .signalSemaphoreCount = signal ? 1 : 0,
                                      .pSignalSemaphores = &signal},
                      fence));
}

static void run(VkCommandBuffer c) {
    submit(queues[0], c, VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE);
    CHECK(QueueWaitIdle(queues[0]));
}

static void fill(uint32_t *words) {
    for (uint32_t i = 0; i < N; i++) words[i] = i;
}

static void buffers(void) {
    for (int cached = 0; cached < 2; cached++) {
        Buffer b = make(cached ? CACHED : COHERENT);
        VkMappedMemoryRange all = {VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE, NULL, b.memory, 0, VK_WHOLE_SIZE};
        fill(b.words);
        if (cached) CHECK(FlushMappedMemoryRanges(device, 1, &all));
        VkCommandBuffer c = begin();
        dispatch(c, bind(b.buffer));
        run(c);
        if (cached) CHECK(InvalidateMappedMemoryRanges(device, 1, &all));
        for (uint32_t i = 0; i < N; i++) EXPECT(b.words[i] == i * i + 1);
        UnmapMemory(device, b.memory);
        unmake(b);
    }
}

static void copies(void) {
    Buffer a = make(COHERENT), b = make(COHERENT);
    uint32_t data[4] = {10, 20, 30, 40};
    fill(a.words);
    VkCommandBuffer c = begin();
    VkBufferCopy regions[] = {{0, 4, 4 * 1000}, {4 * 2000 + 1, 4 * 3000 + 3, 7}};
    CmdFillBuffer(c, b.buffer, 0, VK_WHOLE_SIZE, 0x01020304);
    barrier(c);
    CmdCopyBuffer(c, a.buffer, b.buffer, 2, regions);
    CmdUpdateBuffer(c, b.buffer, BYTES - sizeof data, sizeof data, data);
    barrier(c);
    run(c);
    EXPECT(b.words[0] == 0x01020304 && b.words[1] == 0 && b.words[1000] == 999 && b.words[1001] == 0x01020304);
    EXPECT(!memcmp((char *)b.words + 4 * 3000 + 3, (char *)a.words + 4 * 2000 + 1, 7));
    EXPECT(!memcmp(b.words + N - 4, data, sizeof data));
    unmake(a);
    unmake(b);
}

static void images(void) {
    Buffer a = make(COHERENT), b = make(COHERENT);
    VkImage image[2];
    VkDeviceMemory memory[2];
    VkImageSubresourceLayers layers = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    VkImageSubresourceRange whole = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    fill(a.words);
    for (int i = 0; i < 2; i++) {
        VkMemoryRequirements needs;
        CHECK(CreateImage(device,
                          &(VkImageCreateInfo){.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                               .imageType = VK_IMAGE_TYPE_2D,
                                               .format = VK_FORMAT_R32_UINT,
                                               .extent = {61, 37, 1},
                                               .mipLevels = 1,
                                               .arrayLayers = 1,
                                               .samples = VK_SAMPLE_COUNT_1_BIT,
                                               .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                                        VK_IMAGE_USAGE_TRANSFER_DST_BIT},
                          NULL, &image[i]));
        GetImageMemoryRequirements(device, image[i], &needs);
        CHECK(AllocateMemory(device,
                             &(VkMemoryAllocateInfo){.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                                     .allocationSize = needs.size,
                                                     .memoryTypeIndex = 0},
                             NULL, &memory[i]));
        CHECK(BindImageMemory(device, image[i], memory[i], 0));
    }
    VkCommandBuffer c = begin();
    VkImageMemoryBarrier general[2];
    for (int i = 0; i < 2; i++)
        general[i] = (VkImageMemoryBarrier){.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                            .dstAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                            .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                                            .image = image[i],
                                            .subresourceRange = whole};
    CmdPipelineBarrier(c, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0,
                       NULL, 2, general);
    VkClearColorValue seven = {.uint32 = {7, 7, 7, 7}};
    CmdClearColorImage(c, image[1], VK_IMAGE_LAYOUT_GENERAL, &seven, 1, &whole);
    VkBufferImageCopy in = {.imageSubresource = layers, .imageExtent = {61, 37, 1}};
    CmdCopyBufferToImage(c, a.buffer, image[0], VK_IMAGE_LAYOUT_GENERAL, 1, &in);
    barrier(c);
    VkImageCopy part = {layers, {1, 1, 0}, layers, {0, 0, 0}, {60, 36, 1}};
    CmdCopyImage(c, image[0], VK_IMAGE_LAYOUT_GENERAL, image[1], VK_IMAGE_LAYOUT_GENERAL, 1, &part);
    barrier(c);
    CmdCopyImageToBuffer(c, image[1], VK_IMAGE_LAYOUT_GENERAL, b.buffer, 1, &in);
    barrier(c);
    run(c);
    for (uint32_t y = 0; y < 37; y++)
        for (uint32_t x = 0; x < 61; x++)
            EXPECT(b.words[61 * y + x] == (x < 60 && y < 36 ? 61 * (y + 1) + x + 1 : 7));
    for (int i = 0; i < 2; i++) {
        FreeMemory(device, memory[i], NULL);
        DestroyImage(device, image[i], NULL);
    }
    unmake(a);
    unmake(b);
}

static void events(void) {
    VkEvent event[2];
    for (int i = 0; i < 2; i++)
        CHECK(CreateEvent(device, &(VkEventCreateInfo){.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO}, NULL,
                          &event[i]));
    Buffer b = make(COHERENT);
    VkCommandBuffer c = begin();
    VkMemoryBarrier host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                            .srcAccessMask = VK_ACCESS_HOST_WRITE_BIT,
                            .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT};
    CmdWaitEvents(c, 1, &event[0], VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 1, &host, 0,
                  NULL, 0, NULL);
    dispatch(c, bind(b.buffer));
    CmdSetEvent(c, event[1], VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    submit(queues[0], c, VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE);
    fill(b.words);
    CHECK(SetEvent(device, event[0]));
    while (GetEventStatus(device, event[1]) != VK_EVENT_SET) {}
    for (uint32_t i = 0; i < N; i++) EXPECT(b.words[i] == i * i + 1);
    CHECK(QueueWaitIdle(queues[0]));
    unmake(b);
    for (int i = 0; i < 2; i++) DestroyEvent(device, event[i], NULL);
}

static void two_queues(void) {
    Buffer b = make(COHERENT);
    VkSemaphore semaphore;
    VkFence fence;
    CHECK(CreateSemaphore(device, &(VkSemaphoreCreateInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO},
                          NULL, &semaphore));
    CHECK(CreateFence(device, &(VkFenceCreateInfo){.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO}, NULL, &fence));
    VkDescriptorSet set = bind(b.buffer);
    fill(b.words);
    for (int turn = 0; turn < 20; turn++) {
        VkCommandBuffer first = begin(), second = begin();
        CmdFillBuffer(first, b.buffer, 0, VK_WHOLE_SIZE, turn);
        barrier(first);
        dispatch(second, set);
        submit(queues[0], first, VK_NULL_HANDLE, VK_NULL_HANDLE, semaphore);
        submit(queues[1], second, fence, semaphore, VK_NULL_HANDLE);
        CHECK(WaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX));
        CHECK(ResetFences(device, 1, &fence));
        EXPECT(b.words[0] == (uint32_t)(turn * turn + 1) && b.words[N - 1] == b.words[0]);
    }
    DestroyFence(device, fence, NULL);
    DestroySemaphore(device, semaphore, NULL);
    unmake(b);
}

// The application's mistake: what work in flight uses is destroyed.
static void wrong_order(void) {
    for (int turn = 0; turn < 20; turn++) {
        Buffer a = make(COHERENT), b = make(COHERENT);
        VkBufferCopy all = {0, 0, BYTES};
        VkCommandBuffer c = begin();
        CmdCopyBuffer(c, a.buffer, b.buffer, 1, &all);
        barrier(c);
        VkDescriptorSet set = bind(b.buffer);
        for (int i = 0; i < 8; i++) dispatch(c, set);
        submit(queues[turn % 2], c, VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE);
        FreeMemory(device, b.memory, NULL);
        unmake(a);
        DestroyBuffer(device, b.buffer, NULL);
    }
    DeviceWaitIdle(device);
}

// The application's mistake: two queues use the same bytes at the same time. What they hold is
// undefined; that the driver's own memory is shared without a data race is what this is for.
static void racing(void) {
    Buffer b = make(COHERENT), c = make(COHERENT);
    VkDescriptorSet set = bind(b.buffer);
    for (int turn = 0; turn < 10; turn++) {
        VkCommandBuffer first = begin(), second = begin();
        VkBufferCopy all = {0, 0, BYTES};
        for (int i = 0; i < 4; i++) {
            dispatch(first, set);
            CmdFillBuffer(second, b.buffer, 0, VK_WHOLE_SIZE, i);
            CmdCopyBuffer(second, b.buffer, c.buffer, 1, &all);
        }
        submit(queues[0], first, VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE);
        submit(queues[1], second, VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE);
    }
    CHECK(DeviceWaitIdle(device));
    unmake(b);
    unmake(c);
}

static void *many(void *argument) {
    VkQueue queue = queues[*(int *)argument];
    VkCommandPool own;
    VkFence fence;
    CHECK(CreateCommandPool(device,
                            &(VkCommandPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO}, NULL,
                            &own));
    CHECK(CreateFence(device, &(VkFenceCreateInfo){.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO}, NULL, &fence));
    for (uint32_t turn = 0; turn < 20; turn++) {
        Buffer b = make(COHERENT);
        VkCommandBuffer c;
        CHECK(AllocateCommandBuffers(
            device,
            &(VkCommandBufferAllocateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .commandPool = own,
                                           .commandBufferCount = 1},
            &c));
        CHECK(BeginCommandBuffer(
            c, &(VkCommandBufferBeginInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO}));
        CmdFillBuffer(c, b.buffer, 0, VK_WHOLE_SIZE, turn + 1);
        barrier(c);
        submit(queue, c, fence, VK_NULL_HANDLE, VK_NULL_HANDLE);
        CHECK(WaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX));
        CHECK(ResetFences(device, 1, &fence));
        EXPECT(b.words[N - 1] == turn + 1);
        unmake(b);
    }
    DestroyFence(device, fence, NULL);
    DestroyCommandPool(device, own, NULL);
    return NULL;
}

static void threads(void) {
    pthread_t thread[2];
    int number[2] = {0, 1};
    for (int i = 0; i < 2; i++) EXPECT(!pthread_create(&thread[i], NULL, many, &number[i]));
    for (int i = 0; i < 2; i++) EXPECT(!pthread_join(thread[i], NULL));
}

static void open_device(const char *library, const char *shader) {
    void *driver = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!driver) { fprintf(stderr, "%s\n", dlerror()); exit(1); }
    void *symbol = dlsym(driver, "vk_icdGetInstanceProcAddr");
    if (!symbol) symbol = dlsym(driver, "vkGetInstanceProcAddr");
    PFN_vkGetInstanceProcAddr get = (PFN_vkGetInstanceProcAddr)symbol;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
    CHECK(create(&(VkInstanceCreateInfo){.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO}, NULL, &instance));
#define LOAD(name) name = (PFN_vk##name)get(instance, "vk" #name);
    FUNCTIONS(LOAD)
    uint32_t one = 1;
    CHECK(EnumeratePhysicalDevices(instance, &one, &physical));
    GetPhysicalDeviceMemoryProperties(physical, &memory_properties);
    float priorities[2] = {1, 1};
    VkDeviceQueueCreateInfo queue_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueCount = 2,
                                          .pQueuePriorities = priorities};
    CHECK(CreateDevice(physical,
                       &(VkDeviceCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                             .queueCreateInfoCount = 1,
                                             .pQueueCreateInfos = &queue_info},
                       NULL, &device));
    for (uint32_t i = 0; i < 2; i++) GetDeviceQueue(device, 0, i, &queues[i]);
    CHECK(CreateCommandPool(device,
                            &(VkCommandPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO}, NULL,
                            &pool));
    static uint32_t code[4096];
    FILE *file = fopen(shader, "rb");
    EXPECT(file);
    size_t bytes = fread(code, 1, sizeof code, file);
    fclose(file);
    VkShaderModule module;
    CHECK(CreateShaderModule(device,
                             &(VkShaderModuleCreateInfo){.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                                         .codeSize = bytes,
                                                         .pCode = code},
                             NULL, &module));
    VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT,
                                            NULL};
    CHECK(CreateDescriptorSetLayout(
        device,
        &(VkDescriptorSetLayoutCreateInfo){.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = 1,
                                           .pBindings = &binding},
        NULL, &set_layout));
    CHECK(CreatePipelineLayout(device,
                               &(VkPipelineLayoutCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                                             .setLayoutCount = 1,
                                                             .pSetLayouts = &set_layout},
                               NULL, &layout));
    CHECK(CreateComputePipelines(
        device, VK_NULL_HANDLE, 1,
        &(VkComputePipelineCreateInfo){
            .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                      .module = module,
                      .pName = "main"},
            .layout = layout},
        NULL, &pipeline));
    DestroyShaderModule(device, module, NULL);
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 100};
    CHECK(CreateDescriptorPool(device,
                               &(VkDescriptorPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                                             .maxSets = 100,
                                                             .poolSizeCount = 1,
                                                             .pPoolSizes = &size},
                               NULL, &descriptors));
}

static void close_device(void) {
    DestroyDescriptorPool(device, descriptors, NULL);
    DestroyPipeline(device, pipeline, NULL);
    DestroyPipelineLayout(device, layout, NULL);
    DestroyDescriptorSetLayout(device, set_layout, NULL);
    DestroyCommandPool(device, pool, NULL);
    DestroyDevice(device, NULL);
    DestroyInstance(instance, NULL);
}

int main(int count, char **arguments) {
    static const struct { const char *name; void (*run)(void); } cases[] = {
        {"buffers", buffers}, {"copies", copies},           {"images", images},   {"events", events},
        {"queues", two_queues}, {"wrong-order", wrong_order}, {"threads", threads},
        {"racing", racing},
    };
    if (count < 3) return 1;
    open_device(arguments[1], arguments[2]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int wanted = count == 3;
        for (int k = 3; k < count; k++) wanted |= !strcmp(arguments[k], cases[i].name);
        if (wanted) cases[i].run();
    }
    close_device();
    return 0;
}
