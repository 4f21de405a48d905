#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=1) in;
layout(set=0,binding=0) buffer B { uint x; uint out_[8]; };
void main(){
  uint r = atomicAdd(x, gl_WorkGroupID.x + 1u, gl_ScopeDevice, 0, 0);
  out_[gl_WorkGroupID.x] = r;
}
