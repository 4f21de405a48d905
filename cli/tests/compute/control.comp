#version 450
// Switches with fall-through, nested loops, early returns, structs and arrays.
layout(local_size_x = 32) in;
struct Item { uint kind; uint weights[3]; };
layout(set = 0, binding = 0, std140) uniform Table { uvec4 table[4]; };
layout(set = 0, binding = 1, std430) readonly buffer Items { Item items[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Output { uint results[]; };

uint score(Item item) {
    uint sum = 0;
    for (int i = 0; i < 3; i++) {
        if (item.weights[i] == 9)
            continue;
        for (uint j = 0; j <= uint(i); j++) {
            if (item.weights[i] + j > 12)
                break;
            sum += item.weights[i] * (j + 1);
        }
        if (sum > 40)
            return sum + 1000;
    }
    switch (item.kind) {
    case 0:
        sum += table[0].x;
    case 1:
        sum += table[1].y;
        break;
    case 2:
        return sum;
    default:
        sum ^= table[item.kind & 3][item.kind % 4];
    }
    return sum + 1;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    results[i] = score(items[i]);
}
