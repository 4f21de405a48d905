//! `pellucid report --format html` in a browser: no error of its script, all text inside its box, nothing on
//! top of something else, at the widths of a phone and of a desk; the filter filters, and what is hovered
//! explains itself. `PELLUCID_PAGES=FOLDER` keeps the pages, and pictures of them.

use ash::vk;
use pellucid_test_host::{COHERENT, Vulkan};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const CASE: &str = "PAGE_CASE";

/// A program whose copy is not ordered after the fill that it reads by the barrier between them; or reads
/// what the host did not flush.
#[test]
fn program() {
    let Ok(case) = std::env::var(CASE) else { return };
    let host = case == "host";
    let opened = Vulkan::open(&pellucid::driver::library().unwrap()).unwrap();
    let cached = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_CACHED;
    let memory_type = opened.memory_type(!0, if host { cached } else { COHERENT }).unwrap();
    let (buffer, memory, mapped) = opened.buffer(4096, memory_type).unwrap();
    let device = &opened.device;
    // SAFETY: live handles; the barrier that is missing is what the test is about.
    unsafe {
        mapped.write_bytes(5, if host { 64 } else { 0 });
        let commands = opened
            .record(|commands| {
                if !host {
                    device.cmd_fill_buffer(commands, buffer, 0, 64, 7);
                    let barrier = vk::MemoryBarrier::default()
                        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                        .dst_access_mask(vk::AccessFlags::SHADER_READ);
                    let stages = [vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::COMPUTE_SHADER];
                    let [from, to] = stages;
                    let none = vk::DependencyFlags::empty();
                    device.cmd_pipeline_barrier(commands, from, to, none, &[barrier], &[], &[]);
                }
                let region = vk::BufferCopy::default().dst_offset(1024).size(64);
                device.cmd_copy_buffer(commands, buffer, buffer, &[region]);
            })
            .unwrap();
        opened.run(commands).unwrap();
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
    }
}

const LOOK: &str = r##"
const told = [];
for (const frame of document.querySelectorAll('iframe')) {
  const page = frame.contentDocument, window = frame.contentWindow, width = frame.width;
  const text = node => node ? node.textContent.trim().slice(0, 60) : '';
  const tell = (what, node) => told.push(`${width}: ${what}: ${text(node)}`);
  for (const error of window.errors) tell('script: ' + error);
  const details = [...page.querySelectorAll('details')];
  for (const one of details) one.open = true;
  // Frames beyond the window are not observed.
  window.dispatchEvent(new window.Event('resize'));
  if (page.documentElement.scrollWidth > page.documentElement.clientWidth) tell('wider than the page');
  const walk = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (!node.data.trim() || node.parentElement.closest('script,option')) continue;
    const range = page.createRange();
    range.selectNodeContents(node);
    let box = range.getBoundingClientRect();
    for (let of = node.parentElement; of && of !== page.body; of = of.parentElement) {
      const style = window.getComputedStyle(of);
      if (style.display === 'inline' || style.display === 'contents') continue;
      const limits = of.getBoundingClientRect();
      if (style.overflowX === 'auto') { box = limits; continue; }
      const wide = box.left < limits.left - 1 || box.right > limits.right + 1;
      if (wide || box.top < limits.top - 1 || box.bottom > limits.bottom + 1)
        tell(`outside of its ${of.tagName} ${of.className}`, node);
    }
  }
  for (const picture of page.querySelectorAll('.picture')) {
    const parts = [...picture.children].filter(part => !part.matches('svg'));
    for (const [k, one] of parts.entries()) for (const other of parts.slice(k + 1)) {
      const a = one.getBoundingClientRect(), b = other.getBoundingClientRect();
      const beside = a.left >= b.right - 1 || b.left >= a.right - 1;
      if (!beside && a.top < b.bottom - 1 && b.top < a.bottom - 1) tell('on top of another', one);
    }
  }
  const said = page.getElementById('said');
  for (const part of page.querySelectorAll('.event, .way li')) {
    if (!part.title) tell('explains nothing', part);
    part.focus();
    if (said.hidden || said.textContent !== part.title) tell('does not explain itself to a keyboard', part);
    part.blur();
  }
  for (const picture of page.querySelectorAll('.run')) {
    const at = picture.getBoundingClientRect(), svg = picture.querySelector('svg.arrows');
    for (const arrow of picture.dataset.arrows.split(' ').filter(arrow => arrow)) {
      const [ends, kind] = arrow.split(':');
      for (const end of ends.split('>'))
        if (!picture.querySelector(/^\d+$/.test(end) ? `.event[data-k~="${end}"]` : `.way li.${end}`)) tell('no end for the arrow ' + arrow, picture);
      if (!svg.querySelector(`path.${kind}`)) tell('does not draw the arrow ' + arrow, picture);
    }
    for (const path of svg.children) {
      const box = path.getBoundingClientRect();
      if (box.left < at.left - 2 || box.right > at.right + 2 || box.top < at.top - 2 || box.bottom > at.bottom + 2) tell('an arrow leaves the picture', picture);
    }
    // Above the later access stands all that came before it.
    const events = [...picture.querySelectorAll('.event')], last = picture.querySelector('.event.last');
    if (!last || events.some(one => one !== last && one.getBoundingClientRect().bottom > last.getBoundingClientRect().top)) tell('the later access is not the last', picture);
  }
  const size = node => parseFloat(window.getComputedStyle(node).fontSize);
  for (const one of page.querySelectorAll('.event .dim')) if (size(one) >= size(one.parentElement)) tell('where it is is larger than what it is', one);
  // Text can be told from what is behind it: 4.5 to 1 (WCAG 2.1, success criterion 1.4.3).
  const numbers = color => color.match(/[\d.]+/g).map(Number);
  const light = color => numbers(color).slice(0, 3).map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  for (const one of page.querySelectorAll('.event, .event span, .way li, .reach p, .legend span, h2, h3, p, .pane li')) {
    if (!one.textContent.trim()) continue;
    let behind = one;
    while (behind && numbers(window.getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
    const [a, b] = [light(window.getComputedStyle(one).color), light(window.getComputedStyle(behind || page.body).backgroundColor)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) tell('hard to read, ' + contrast.toFixed(1), one);
  }
  for (const way of page.querySelectorAll('.way')) for (const kind of ['has', 'lacks', 'fix']) {
    const drawn = way.querySelector('li.' + kind), told = way.closest('article').querySelector('.legend .' + kind);
    if (!drawn !== !told) tell('the legend is wrong about ' + kind, way);
  }
  for (const picture of page.querySelectorAll('.picture')) {
    const lanes = [...picture.querySelectorAll('.lane')].map(lane => lane.textContent.split(', '));
    const shared = lanes.length ? lanes[0].slice(0, -1).filter(part => lanes.every(lane => lane.includes(part))) : [];
    if (shared.length) tell('every lane says ' + shared, picture);
  }
  for (const one of details) one.open = false;
  const words = page.getElementById('words');
  const shown = () => page.querySelectorAll('article:not([hidden])').length;
  const all = shown();
  words.value = 'no finding says this';
  words.dispatchEvent(new window.Event('input'));
  if (!all || shown()) tell('the search finds everything');
  words.value = '';
  words.dispatchEvent(new window.Event('input'));
  if (shown() !== all) tell('the search loses something');
}
const verdict = { id: 'verdict', textContent: JSON.stringify(told) };
document.body.append(Object.assign(document.createElement('pre'), verdict));
const scheme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
document.body.append(Object.assign(document.createElement('pre'), { textContent: scheme }));
"##;

fn pellucid(case: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pellucid"));
    command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    command.env(CASE, case).env_remove("PELLUCID_PAGES").output().expect("pellucid runs")
}

/// The page of what a command reports.
fn page(name: &str, arguments: &[&str], id: &str, folder: &Path) -> String {
    let report = folder.join(format!("{name}.json"));
    let report = report.to_str().expect("a path");
    let words = [&arguments[..1], &["--report", report], &arguments[1..]].concat();
    let output = pellucid(name, &words);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains(&format!("error[{id}")), "{name}: {text}");
    String::from_utf8(pellucid(name, &["report", report, "--format", "html"]).stdout).expect("text")
}

/// The browser, for one who prefers a dark page or a light one.
fn browser(dark: bool, arguments: &[String], file: &Path) -> Output {
    Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"])
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)))
        .args(arguments)
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("the browser")
}

#[test]
fn every_kind_of_finding_is_a_page_that_can_be_read() {
    if Command::new("chromium").arg("--version").output().is_err() {
        return pellucid_test_host::skipped("chromium");
    }
    let keep = std::env::var_os("PELLUCID_PAGES").map(PathBuf::from);
    let folder = tempfile::tempdir().expect("a folder");
    let this = std::env::current_exe().expect("this program");
    let planted = |name: &str| format!("tests/planted/message_passing/{name}.spv");
    let visible = planted("buffer.no-make-visible");
    let reduce = "cli/src/demo/reduce.spv";
    let endless = "cli/tests/compute/endless.spv";
    let hazard = ["run", "--", this.to_str().expect("a path"), "--exact", "program"];
    let host = [&["run", "--machine", "tiled"], &hazard[1..]].concat();
    let deadlock = "tests/planted/dynamic/lock_order.bug.spv";
    let cases: [(&str, &[&str], &str); 7] = [
        ("race", &["exec", reduce, "--buffer", "0:0=u32x64=iota"], "race-not-"),
        ("visibility", &["exec", &visible, "--groups", "2"], "race-not-visible"),
        ("caches", &["exec", &visible, "--groups", "2", "--machine", "tiled"], "race-not-visible"),
        ("hazard", &hazard, "hazard-read-after-write"),
        ("host", &host, "host-not-flushed"),
        ("livelock", &["exec", endless], "livelock"),
        ("deadlock", &["exec", deadlock, "--groups", "2"], "livelock"),
    ];
    for (name, arguments, id) in cases {
        let html = page(name, arguments, id, folder.path());
        assert_eq!(html.matches("<article").count(), html.matches("<article data-kind").count(), "{name}");
        assert_eq!(html.contains("Caches when (2) read, on compute unit 1"), name == "caches", "{name}");
        assert_eq!(html.contains("The host's cache, bytes 0..16 of the memory"), name == "host", "{name}");
        // A race is told with its barriers or atomics and how far it got, a hazard with what barriers lack.
        let told: &[&str] = match name {
            "race" => &[
                "<b>controlBarrier</b>",
                "makes nothing available or visible",
                "✗ subgroup",
                // Lanes stand below their workgroup, and one barrier is across both.
                ">workgroup (0,0,0)</div>",
                "<br><span class=\"does\">joins the invocations of one workgroup</span>",
                "they synchronize with each other",
                "double line: a barrier, across the lanes that it joins",
            ],
            "visibility" => &[
                "<b>writes atomically flag</b>",
                "<b>reads atomically flag</b>",
                "✓ device",
                "✗ queue family",
                "class=\"sw\"",
            ],
            "hazard" => &[
                "lacks COPY in dstStageMask",
                "lacks TRANSFER_READ in dstAccessMask",
                "covers this memory",
                // Of which bytes of what it is told.
                "bytes 0..64 of buffer 0x",
                "Timeline of the host and the queues",
                "<b>vkQueueSubmit</b>",
                "hands in submission 1 of queue 0",
            ],
            "host" => &["<div class=\"lane\"", ">host</div>", "<b>vk"],
            // Who waits alone waits for nobody that is drawn.
            "livelock" => &[
                "The last turns, in the order in which they were taken",
                "waits for a change that nobody makes",
                "data-arrows=\"0&gt;lacks:wait\"",
                "down: waits for what nobody does",
            ],
            // Each of the two waits for the other.
            "deadlock" => {
                &["waits for workgroup (0,0,0)", "waits for workgroup (1,0,0)", "class=\"wait\"", ":wait"]
            }
            _ => &[],
        };
        // The lines of both sides are marked, whatever folder the shader's source was in.
        let marked = html.matches("<li class=\"here\"").count();
        let sides = match name {
            "race" | "visibility" | "caches" => 2,
            "livelock" | "deadlock" => 1,
            _ => 0,
        };
        assert_eq!(marked, sides, "{name}");
        told.iter().for_each(|told| assert!(html.contains(told), "{name} does not say {told}"));
        let heard = "<script>errors=[];addEventListener('error',e=>errors.push(e.message))</script><style>";
        let inner = html.replacen("<style>", heard, 1).replace('&', "&amp;").replace('"', "&quot;");
        let frames: String = [360, 1600]
            .map(|width| {
                format!("<iframe width=\"{width}\" height=\"1500\" frameborder=\"0\" srcdoc=\"{inner}\"></iframe>\n")
            })
            .concat();
        let file = folder.path().join(format!("{name}.html"));
        let shell = |script: &str| {
            format!(
                "<!DOCTYPE html><meta charset=\"utf-8\"><body style=\"margin:0;display:flex\">{frames}<script>{script}</script>"
            )
        };
        std::fs::write(&file, shell(&format!("addEventListener('load', () => {{ {LOOK} }})")))
            .expect("a page");
        for dark in [false, true] {
            let shown = browser(dark, &["--dump-dom".to_owned()], &file);
            let shown = String::from_utf8_lossy(&shown.stdout);
            let told = shown.rsplit("<pre id=\"verdict\">").next().unwrap_or_default();
            let told: String = told.chars().take(2000).collect();
            let scheme = format!(">{}</pre>", if dark { "dark" } else { "light" });
            assert!(shown.contains(&scheme), "{name}: not{scheme}");
            assert!(shown.contains("<pre id=\"verdict\">[]</pre>"), "{name}, dark: {dark}: {told}");
        }
        if let Some(keep) = &keep {
            std::fs::write(keep.join(format!("{name}.html")), &html).expect("the page");
            std::fs::write(&file, shell("")).expect("a page");
            for (dark, scheme) in [(false, ""), (true, ".dark")] {
                let picture = keep.join(format!("{name}{scheme}.png"));
                let picture = format!("--screenshot={}", picture.display());
                browser(dark, &[picture, "--window-size=1980,1500".to_owned()], &file);
            }
        }
    }
}
