//! vello draws in some twenty compute shaders: a picture whose pixels are known, by coverage of areas, by 8
//! and by 16 samples, and again. With the argument `once` the first of these.

use vello::kurbo::{Affine, Circle, Rect, Stroke};
use vello::peniko::{Color, Fill, Gradient, Mix};
use vello::wgpu;
use vello::{AaConfig, AaSupport, RenderParams, Renderer, RendererOptions, Scene};

const SIZE: u32 = 256;
const WHITE: Color = Color::WHITE;
const RED: Color = Color::from_rgb8(255, 0, 0);
const BLUE: Color = Color::from_rgb8(0, 0, 255);

fn scene() -> Scene {
    let mut scene = Scene::new();
    let fill = Fill::NonZero;
    // Its right side covers half of the pixels of a column.
    scene.fill(fill, Affine::IDENTITY, RED, None, &Rect::new(8.0, 8.0, 60.5, 60.0));
    // Rings, so that tiles have many segments.
    for ring in 1..=20 {
        let circle = Circle::new((160.0, 96.0), 4.0 * f64::from(ring));
        scene.stroke(&Stroke::new(2.0), Affine::IDENTITY, BLUE, None, &circle);
    }
    let gradient = Gradient::new_linear((0.0, 0.0), (256.0, 0.0)).with_stops([RED, BLUE]);
    scene.push_layer(fill, Mix::Normal, 0.5, Affine::IDENTITY, &Circle::new((64.0, 192.0), 40.0));
    scene.fill(fill, Affine::IDENTITY, &gradient, None, &Rect::new(0.0, 0.0, 256.0, 256.0));
    scene.pop_layer();
    scene
}

/// Pixels that the picture has, as red, green and blue, and how far off they may be.
const PIXELS: &[([u32; 2], [u8; 3], u8)] = &[
    ([250, 4], [255, 255, 255], 0),
    ([30, 30], [255, 0, 0], 0),
    ([60, 30], [255, 128, 128], 1),
    // On a ring, and between two.
    ([160 + 39, 96], [0, 0, 255], 2),
    ([160 + 41, 96], [255, 255, 255], 2),
    // A quarter of the way from red to blue, half of it seen.
    ([64, 192], [223, 128, 159], 2),
    ([64, 240], [255, 255, 255], 0),
];

fn main() {
    let mut context = vello::util::RenderContext::new();
    let id = pollster::block_on(context.device(None)).expect("a device of wgpu");
    let (device, queue) = (&context.devices[id].device, &context.devices[id].queue);
    let options = RendererOptions { antialiasing_support: AaSupport::all(), ..Default::default() };
    let mut renderer = Renderer::new(device, options).expect("vello's pipelines");
    let size = wgpu::Extent3d { width: SIZE, height: SIZE, depth_or_array_layers: 1 };
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8Unorm,
        usage: wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
    let bytes = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(SIZE * SIZE * 4),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let all = [AaConfig::Area, AaConfig::Msaa8, AaConfig::Msaa16, AaConfig::Area];
    let pictures = if std::env::args().any(|argument| argument == "once") { 1 } else { all.len() };
    for antialiasing_method in all.into_iter().take(pictures) {
        let params = RenderParams { base_color: WHITE, width: SIZE, height: SIZE, antialiasing_method };
        renderer.render_to_texture(device, queue, &scene(), &view, &params).expect("vello draws");
        let mut commands = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let rows =
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(SIZE * 4), rows_per_image: None };
        let target = wgpu::TexelCopyBufferInfo { buffer: &bytes, layout: rows };
        commands.copy_texture_to_buffer(texture.as_image_copy(), target, size);
        queue.submit([commands.finish()]);
        bytes.slice(..).map_async(wgpu::MapMode::Read, |mapped| mapped.expect("the picture is mapped"));
        device.poll(wgpu::PollType::wait_indefinitely()).expect("the device goes on");
        let picture = bytes.slice(..).get_mapped_range().expect("the picture is mapped");
        for ([x, y], expected, off) in PIXELS {
            let at = ((y * SIZE + x) * 4) as usize;
            let pixel: Vec<u8> = picture[at..at + 3].to_vec();
            let near = pixel.iter().zip(expected).all(|(is, should)| is.abs_diff(*should) <= *off);
            assert!(near, "{antialiasing_method:?} at {x}, {y}: {pixel:?} and not {expected:?}");
        }
        drop(picture);
        bytes.unmap();
    }
    println!("vello: ok");
}
