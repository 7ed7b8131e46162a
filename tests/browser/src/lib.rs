//! Chromium for tests of pages: without a display and without a GPU, driven through chromedriver.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Time for which a page may load, or a script run.
const TIMEOUT: Duration = Duration::from_secs(300);
/// WebGL2 and WebGPU on SwiftShader. The browser composes pages with Vulkan: otherwise, it cannot show canvases of
/// WebGPU, and destroys their device.
const ARGUMENTS: [&str; 9] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--use-vulkan=swiftshader",
    "--enable-features=Vulkan",
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
];

/// Returns what is missing to open a browser, and how to install it.
pub fn missing() -> Option<String> {
    let runs = |program: &str| {
        let command = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        command.is_ok_and(|status| status.success())
    };
    let missing: Vec<&str> = ["chromium", "chromedriver"].into_iter().filter(|program| !runs(program)).collect();
    let install = "on Debian: apt-get install chromium chromium-driver";
    (!missing.is_empty()).then(|| format!("{} cannot be run; {install}", missing.join(" and ")))
}

/// A browser with one page. Closed when dropped.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    session: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = ureq::delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Browser {
    /// Opens a browser with a window of a size in pixels, which runs `before` in each page before the page's own
    /// scripts.
    ///
    /// # Panics
    /// As all functions here, if the browser fails.
    pub fn open([width, height]: [u32; 2], before: &str) -> Self {
        // A port that was free a moment ago.
        let free = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver runs");
        let mut browser = Self { driver, session: String::new() };
        let address = format!("http://127.0.0.1:{port}");
        let start = Instant::now();
        while ureq::get(format!("{address}/status")).call().is_err() {
            assert!(start.elapsed() < TIMEOUT, "chromedriver does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
        let size = format!("--window-size={width},{height}");
        let arguments: Vec<&str> = ARGUMENTS.into_iter().chain(["--ignore-gpu-blocklist", &size]).collect();
        let timeout = TIMEOUT.as_millis() as u64;
        let options = json!({
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
            "timeouts": { "script": timeout, "pageLoad": timeout },
        });
        let body = json!({ "capabilities": { "alwaysMatch": options } });
        let opened = send(&format!("{address}/session"), &body);
        let id = opened["sessionId"].as_str().expect("a session");
        browser.session = format!("{address}/session/{id}");
        browser.call(
            "goog/cdp/execute",
            &json!({ "cmd": "Page.addScriptToEvaluateOnNewDocument", "params": { "source": before } }),
        );
        browser
    }

    fn call(&self, command: &str, body: &Value) -> Value {
        send(&format!("{}/{command}", self.session), body)
    }

    /// Opens a page.
    pub fn go(&self, address: &str) {
        self.call("url", &json!({ "url": address }));
    }

    /// Runs a script that returns a value.
    pub fn script(&self, script: &str) -> Value {
        self.call("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Runs a script that calls its last argument with a value, and returns the value. `arguments`: a list.
    pub fn script_async(&self, script: &str, arguments: &Value) -> Value {
        self.call("execute/async", &json!({ "script": script, "args": arguments }))
    }

    /// Returns what pages wrote to the console since the last call.
    pub fn console(&self) -> Value {
        self.call("se/log", &json!({ "type": "browser" }))
    }

    /// Waits until a script returns something true, and returns it.
    pub fn wait(&self, script: &str) -> Value {
        let start = Instant::now();
        loop {
            let value = self.script(script);
            if !matches!(value, Value::Null | Value::Bool(false)) {
                return value;
            }
            if start.elapsed() > TIMEOUT {
                let page = self.script("return [{ ...document.body.dataset }, document.body.innerText.slice(0, 2000)]");
                panic!("waited for: {script}\npage: {page}\nconsole: {}", self.console());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

fn send(url: &str, body: &Value) -> Value {
    let config = ureq::Agent::config_builder().http_status_as_error(false).build();
    let response = ureq::Agent::from(config).post(url).send_json(body);
    let mut response = response.unwrap_or_else(|error| panic!("{url}: {error}"));
    let mut answer: Value =
        response.body_mut().with_config().limit(64 << 20).read_json().expect("chromedriver sends JSON");
    let value = answer["value"].take();
    assert!(value["error"].is_null(), "{url}: {} {}", value["error"], value["message"]);
    value
}
