//! burn on its wgpu backend: a matrix product, a convolution, a softmax and the gradients of all of them,
//! beside burn's own backend on the CPU.

use burn::backend::ndarray::NdArrayDevice;
use burn::backend::wgpu::WgpuDevice;
use burn::backend::{Autodiff, NdArray, Wgpu};
use burn::tensor::activation::{relu, softmax};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::module::{conv2d, max_pool2d};
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Tensor, TensorData};

/// Numbers between -1 and 1, the same on every backend.
fn numbers<const D: usize>(shape: [usize; D], seed: u32) -> TensorData {
    let mut state = seed;
    let count = shape.iter().product();
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    TensorData::new((0..count).map(next).collect::<Vec<f32>>(), shape)
}

fn values<B: burn::tensor::backend::Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<f32> {
    tensor.into_data().to_vec().expect("floats")
}

/// A small network forwards and backwards: its output, then the gradients of the weights and of the image.
fn network<B: AutodiffBackend>(device: &B::Device) -> Vec<(&'static str, Vec<f32>)> {
    let image = Tensor::<B, 4>::from_data(numbers([2, 3, 17, 19], 1), device).require_grad();
    let kernel = Tensor::<B, 4>::from_data(numbers([8, 3, 3, 3], 2), device).require_grad();
    let weights = Tensor::<B, 2>::from_data(numbers([8 * 8 * 9, 33], 3), device).require_grad();
    let options = ConvOptions::new([1, 1], [1, 1], [1, 1], 1);
    let convolved = relu(conv2d(image.clone(), kernel.clone(), None, options));
    let pooled = max_pool2d(convolved, [2, 2], [2, 2], [0, 0], [1, 1], false);
    let product = pooled.reshape([2, 8 * 8 * 9]).matmul(weights.clone());
    let output = softmax(product, 1);
    let gradients = (output.clone() * Tensor::from_data(numbers([2, 33], 4), device)).sum().backward();
    let sorted = output.clone().inner().sort(1);
    vec![
        ("output", values(output.inner())),
        ("sorted", values(sorted)),
        ("gradient of the weights", values(weights.grad(&gradients).expect("it has one"))),
        ("gradient of the kernel", values(kernel.grad(&gradients).expect("it has one"))),
        ("gradient of the image", values(image.grad(&gradients).expect("it has one"))),
    ]
}

fn main() {
    let expected = network::<Autodiff<NdArray>>(&NdArrayDevice::Cpu);
    let found = network::<Autodiff<Wgpu>>(&WgpuDevice::DefaultDevice);
    for ((name, expected), (_, found)) in expected.iter().zip(&found) {
        assert_eq!(expected.len(), found.len(), "{name}");
        let largest = expected.iter().fold(0f32, |most, value| most.max(value.abs()));
        let wrong = expected.iter().zip(found).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
        assert!(wrong <= 1e-4 * largest.max(1e-3), "{name}: {wrong} of {largest}");
    }
    println!("burn: ok");
}
