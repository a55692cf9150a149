/**
 * Drives Debian's Chromium through pages that this process serves.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { until } from "../../support/run/processes.ts";
import { runCli, startCli } from "../../support/run/run_cli.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { tlsCertificate, tlsText } from "../../support/servers/tls_fixture.ts";

const FORM = `<!doctype html><meta charset="utf-8"><title>Sign in</title>
<h1>Hello</h1>
<form id="login" action="/done">
  <label>Name <input id="name" name="name" value="old"></label>
  <input id="pw" type="password" name="pw">
  <select id="size" name="size"><option value="s">Small<option value="l">Large</select>
  <input type="checkbox" id="agree" name="agree"> <input type="date" id="day" name="day">
  <input type="file" id="file" multiple>
  <button id="go" disabled>Go</button>
</form>
<p id="late" hidden>late</p> <a id="two" href="/two" data-x="1">two</a>
<p id="moves" style="position: relative">moves</p>
<button id="covered" style="position: absolute; top: 500px">below</button>
<div class="sheet" style="position: absolute; top: 490px; width: 200px; height: 80px"></div>
<script>
  setTimeout(() => {
    document.getElementById("go").disabled = false;
    document.getElementById("late").hidden = false;
  }, 300);
  console.error("oops");
  fetch("/missing");
  const seen = [];
  for (const type of ["dblclick", "contextmenu", "mouseover", "keydown", "focus"]) {
    document.getElementById("name").addEventListener(type, (e) => seen.push(e.key ?? type));
  }
</script>`;

/** Pages, some of which come late. */
function serve() {
  const headers = { "content-type": "text/html; charset=utf-8" };
  return withServer(async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    const page = (text: string) => new Response(text, { headers });
    const later = () => new Promise((resolve) => setTimeout(resolve, 300));
    switch (pathname) {
      case "/":
        return page(FORM);
      case "/done": {
        await later();
        const [name, size, day] = ["name", "size", "day"].map((key) => searchParams.get(key));
        return page(`<title>Done</title><h1>Welcome ${name}</h1><p>${size} ${day}</p>`);
      }
      case "/cookie":
        return page(`<p>${request.headers.get("cookie") ?? "none"}</p>`);
      case "/image":
        return page(
          `<img src="/big.png"><script>alert("hi"); document.title = String(confirm("ok?"))</script>`,
        );
      case "/hangs":
        return page("<p>busy</p><script>onclick = () => { for (;;); }</script>");
      case "/frames": {
        const other = searchParams.get("other");
        return page(`<div style="height: 3000px">far</div>
          <iframe id="own" src="/inner?own" style="border: 9px solid; margin: 20px"></iframe>
          <iframe id="other" src="${other}/inner?other"></iframe>
          <iframe id="nested" srcdoc="<iframe id=deep src='/inner?deep'></iframe>"></iframe>`);
      }
      case "/inner":
        return page(
          `<input id="name">
          <button onclick="this.textContent = document.getElementById('name').value">Save</button>`,
        );
      case "/replaced":
        // What a framework draws again is another element each time.
        return new Response(
          `<div><button disabled>Save</button></div><p>0 clicks</p>
          <script src="/replaces.js"></script>`,
          { headers: { ...headers, "content-security-policy": "script-src 'self'" } },
        );
      case "/replaces.js":
        return new Response(
          `let clicks = 0;
          const draw = (html) => document.querySelector("div").innerHTML = html;
          setTimeout(() => draw("<button hidden>Save</button><iframe src='/two'></iframe>"), 150);
          setTimeout(() => {
            draw("<button>Save</button><iframe src='/inner'></iframe>");
            document.querySelector("button").onclick = () =>
              document.querySelector("p").textContent = ++clicks + " clicks";
          }, 400);`,
          { headers: { "content-type": "text/javascript" } },
        );
      case "/two":
        return page("<title>Two</title><h1>two</h1>");
      case "/tabs":
        return page(`<h1>first</h1>
          <a id="link" target="_blank" href="/two">two</a>
          <a id="file" target="_blank" href="/file">file</a>
          <a id="missing" target="_blank" href="/missing">missing</a>
          <a id="refused" target="_blank" href="http://127.0.0.1:1024/">refused</a>
          <button id="brief" onclick="window.open('/two').close()">brief</button>
          <button id="window" onclick="window.open('/window', 'w', 'width=300,height=200')">ask</button>
          <button id="soon" onclick="setTimeout(() => window.open('/greets'), 300)">soon</button>`);
      case "/window":
        return page(`<input><button onclick="opener.document.querySelector('h1').textContent =
          document.querySelector('input').value; window.close()">Choose</button>`);
      case "/greets":
        return page("<h1>hi</h1><script>alert('hello'); console.error('oops')</script>");
      case "/never":
        await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
        return new Response();
      case "/file":
        return new Response("bytes", { headers: { "content-disposition": "attachment" } });
      default:
        return new Response("no", { status: 404 });
    }
  });
}

/** One step after another in one job; `{url}` is that of the server. */
function workflow(steps: string): string {
  return `name: Browser
vars: { url: "{{URL}}", password: "{{PASSWORD ?? ''}}" }
jobs:
  - name: Pages
    steps:${steps.replaceAll("{url}", "{{vars.url}}")}`;
}

const FLOW = workflow(`
      - name: fills in
        uses: browser
        with:
          actions:
            - { name: navigate, url: "{url}/" }
            - { name: text, selector: h1, id: heading }
            - { name: fill, selector: "#name", value: Ada }
            - { name: value, selector: "#name" }
            - { name: expect_text, selector: "#name", value: Ada, exact: true }
            - { name: send_keys, selector: "#pw", value: "{{vars.password}}" }
            - { name: select, selector: "#size", value: Large }
            - { name: fill, selector: "#agree", value: true }
            - { name: fill, selector: "#day", value: 2026-01-31 }
            - { name: upload, selector: "#file", path: [flow.yml, flow.yml] }
            - { name: evaluate, script: "document.querySelector('#file').files.length", id: files }
            - { name: wait_visible, selector: "text=late" }
            - { name: wait_text, selector: "#late" }
            - { name: get_attribute, selector: "//a", attribute: data-x, id: one }
            - { name: get_attribute, selector: "#two", attribute: [href, nope], id: many }
            - { name: get_html, selector: "#late", id: html }
            - { name: double_click, selector: "#name" }
            - { name: right_click, selector: "#name" }
            - { name: right_click, selector: "#name" }
            - { name: hover, selector: h1 }
            - { name: hover, selector: "#name" }
            - { name: press, selector: "#name", value: Shift+End }
            - { name: evaluate, script: seen, id: seen }
            - { name: evaluate, script: "[10n, new Date(0), new Map([['a', document.title]])]", id: data }
            - { name: evaluate, script: document.querySelector('h1'), id: element }
            - { name: evaluate, script: "prompt('Name?', 'Bob')", id: prompt }
            - { name: screenshot, selector: h1 }
            - { name: capture_screenshot, path: shots/page.jpg }
            - { name: full_screenshot, quality: 50, id: whole }
            - { name: click, selector: "#go" }
            - { name: text, selector: h1 }
        test: |
          res.code == 0 && res.results.heading == "Hello" && res.results.value == "Ada" &&
          res.results.files == 2 && res.results.wait_text == "late" && res.results.one == "1" &&
          res.results.many == {href: "/two", nope: nil} &&
          res.results.html contains "late</p>" && res.results.text == "Welcome Ada" &&
          "dblclick" in res.results.seen && "contextmenu" in res.results.seen &&
          res.results.data == ["10", "1970-01-01T00:00:00.000Z", {a: "Sign in"}] &&
          res.results.element == "<h1>Hello</h1>" && res.results.prompt == "Bob" &&
          "mouseover" in res.results.seen && "End" in res.results.seen &&
          res.filepaths.screenshot endsWith ".png" && res.filepaths.whole endsWith ".jpg" &&
          res.filepaths.capture_screenshot endsWith "/shots/page.jpg" &&
          res.console_errors[0].text == "oops" &&
          res.failed_requests[0].code == 404 && len(res.timing) == 31 && res.http_code == 200
      - name: the page of the job is still there
        uses: browser
        with:
          actions:
            - { name: expect_url, value: "/done?name=Ada" }
            - { name: expect_title, value: Done, exact: true }
            - { name: expect_text, selector: p, value: l 2026-01-31 }
            - { name: expect_visible, selector: h1 }
            - { name: wait_not_visible, selector: "#late" }
            - { name: wait_ready }
        test: res.title == "Done" && res.results.expect_text == "l 2026-01-31"
      - name: submits and follows
        uses: browser
        with:
          actions:
            - { name: navigate, url: / }
            - { name: focus, selector: "#name" }
            - { name: scroll, selector: "#two" }
            - { name: wait_enabled, selector: "#go" }
            - { name: submit, selector: "#name" }
            - { name: text, selector: h1 }
            - { name: navigate, url: / }
            - { name: type, selector: "#name", value: Ev }
            - { name: press, value: [x, Backspace, e] }
            - { name: wait_enabled, selector: "#go" }
            - { name: press, value: Enter }
            - { name: text, selector: h1, id: pressed }
        test: res.results.text == "Welcome old" && res.results.pressed == "Welcome Eve"
      - name: a smaller page, and nothing from a URL
        uses: browser
        with:
          viewport: { width: 500, height: 400, scale: 2, mobile: true }
          block: ["*/missing", "*.ico"]
          actions:
            - { name: navigate, url: / }
            - { name: evaluate, script: "[innerHeight, devicePixelRatio]" }
        test: res.results.evaluate[1] == 2 && res.failed_requests == []
      - name: a browser of its own, with cookies, a device and dialogs
        uses: browser
        with:
          fresh: true
          cookies: { session: cookie-of-mine-77 }
          device: iPhone 13
          block: [image]
          dialogs: dismiss
          trace: trace.json
          actions:
            - { name: navigate, url: "{url}/cookie" }
            - { name: text, selector: p }
            - { name: evaluate, script: devicePixelRatio, id: ratio }
            - { name: navigate, url: "{url}/image" }
            - { name: expect_title, value: "false" }
        test: |
          res.results.text == "session=cookie-of-mine-77" && res.results.ratio == 3 &&
          res.dialogs == [{type: "alert", message: "hi"}, {type: "confirm", message: "ok?"}] &&
          res.failed_requests == [] && res.cookies[0].name == "session"
`);

Deno.test("browser carries out every action, and hides secrets in all reports", async () => {
  await using server = serve();
  await withFiles({ "flow.yml": FLOW }, async (dir) => {
    await Deno.mkdir(`${dir}/tmp`);
    const env = { URL: server.url, PASSWORD: "open-sesame-42", TMPDIR: `${dir}/tmp` };
    const args = ["-v", "--report-dir", "reports", "flow.yml"];
    const { code, stdout, stderr } = await runCli(args, { cwd: dir, env });
    assertEquals(code, 0, stdout + stderr);
    let all = stdout + stderr;
    for (const { name } of Deno.readDirSync(`${dir}/reports`)) {
      all += await Deno.readTextFile(`${dir}/reports/${name}`);
    }
    for (const secret of ["open-sesame-42", "cookie-of-mine-77"]) {
      assertEquals(all.includes(secret), false, secret);
    }
    assertStringIncludes(stderr, '3. fill "#name" "Ada" (');
    const html = await Deno.readTextFile(`${dir}/reports/report.html`);
    assertStringIncludes(html, '"images":[{"name":"screenshot","data":"data:image/png;base64,');
    assertEquals(
      (await Deno.readFile(`${dir}/shots/page.jpg`)).slice(0, 2),
      new Uint8Array([255, 216]),
    );
    assertStringIncludes(await Deno.readTextFile(`${dir}/trace.json`), "traceEvents");
    await assertNothingLeft(`${dir}/tmp`);
  });
});

/** Steps that fail, and what the message says. */
const FAILURES: readonly (readonly [actions: string, message: RegExp])[] = [
  [
    `{ name: navigate, url: "{url}/" }, { name: click, selector: "form > button#goo" }`,
    /action 2 of 2, click "form > button#goo", timed out after 700ms: no element matches "form > button#goo"[^]*the nearest element is body > form#login > button#go "Go"/,
  ],
  [`{ name: click, selector: "#covered" }`, /the element "#covered" is covered by div\.sheet/],
  [
    `{ name: evaluate, script: "document.querySelector('#moves').animate([{left: 0}, {left: '300px'}], {duration: 9000}), 1" }, { name: click, selector: "#moves" }`,
    /the element "#moves" keeps moving/,
  ],
  [
    `{ name: evaluate, script: "document.querySelector('#go').disabled = true; document.querySelector('#late').hidden = true" }, { name: click, selector: "#go" }`,
    /the element "#go" is disabled/,
  ],
  [`{ name: text, selector: "#late" }`, /the element "#late" is not visible: display: none/],
  [`{ name: wait_not_visible, selector: h1 }`, /the element "h1" is still visible/],
  [
    `{ name: expect_text, selector: h1, value: Goodbye }`,
    /timed out after 700ms: the text of "h1" is "Hello", without "Goodbye"/,
  ],
  [`{ name: expect_url, value: x, exact: true }`, /the URL is "http:[^"]*", not "x"/],
  [`{ name: expect_title, value: Done }`, /the title is "Sign in", without "Done"/],
  [
    `{ name: select, selector: "#size", value: Tiny }`,
    /it has no option "Tiny"; its options are "s", "l"/,
  ],
  [`{ name: fill, selector: h1, value: x }`, /it is not a field that can be filled/],
  [
    `{ name: upload, selector: "#file", path: nope.txt }`,
    /cannot read the file to upload "[^"]*nope.txt": no such file \(ENOENT\)/,
  ],
  [`{ name: click, selector: "a[" }`, /invalid selector "a\["/],
  [`{ name: press, value: Entr }`, /unknown key "Entr"/],
  [`{ name: evaluate, script: "foo(" }`, /the script failed: Unexpected end of input/],
  [`{ name: evaluate, script: "return 1" }`, /Illegal return[^]*"script" is one expression/],
  [`{ name: navigate, url: "http://127.0.0.1:9/" }`, /ERR_UNSAFE_PORT/],
  [
    `{ name: navigate, url: "http://127.0.0.1:1024/" }`,
    /127\.0\.0\.1 port 1024 refused the connection \(net::ERR_CONNECTION_REFUSED\)/,
  ],
  [
    `{ name: navigate, url: "http://nowhere.invalid/" }`,
    /cannot resolve host "nowhere.invalid" \(net::ERR_NAME_NOT_RESOLVED\)|ERR_PROXY|ERR_TUNNEL/,
  ],
  [
    `{ name: navigate, url: "{url}/two" }, { name: navigate, url: /never }`,
    /action 2 of 2, navigate \/never, timed out after 700ms: the page did not load[^]*title: Two/,
  ],
  [
    `{ name: evaluate, script: "document.body.innerHTML = '<a href=/never>go</a>'" }, { name: click, selector: a }`,
    /click "a", timed out after 700ms: the page that it opens did not load[^]*title: Two/,
  ],
  [
    `{ name: navigate, url: "{url}/hangs" }, { name: click, selector: p }, { name: text, selector: p }`,
    /the page does not answer: a script may be running without end/,
  ],
];

Deno.test("browser says which action failed, why, and what the page shows", async () => {
  await using server = serve();
  const steps = FAILURES.map(([actions]) => `
      - uses: browser
        with:
          timeout: 700ms
          screenshots: shots
          actions: [${actions}]`).join("");
  await withFiles({ "flow.yml": workflow(steps) }, async (dir) => {
    const { code, stdout } = await runCli(["--report", "html=report.html", "flow.yml"], {
      cwd: dir,
      env: { URL: server.url, TMPDIR: dir },
    });
    assertEquals(code, 1);
    const blocks = stdout.split(/^ {1,3}\d+\. ✗ /m).slice(1);
    for (const [index, [actions, message]] of FAILURES.entries()) {
      assertMatch(blocks[index] ?? "", message, actions);
    }
    assertStringIncludes(blocks[0]!, "title: Sign in");
    assertStringIncludes(blocks[0]!, "text: Hello Name");
    assertMatch(blocks[0]!, /the screenshot is \S+\/shots\/browser-\S+\.webp/);
    const html = await Deno.readTextFile(`${dir}/report.html`);
    assertStringIncludes(html, '"images":[{"name":"failure","data":"data:image/webp;base64,');
    await assertNothingLeft(dir, ["flow.yml", "report.html", "shots"]);
  });
});

Deno.test("browser leaves nothing behind after a timeout and after Ctrl-C", async () => {
  await using server = serve();
  const steps = `
      - uses: browser
        with: { timeout: 60s, actions: [{ name: navigate, url: "{url}/two" }] }
        test: status == 0
      - uses: browser
        timeout: 3s
        with:
          timeout: 60s
          actions: [{ name: navigate, url: "{url}/two" }, { name: click, selector: "#nope" }]
      - uses: browser
        with:
          timeout: 60s
          actions: [{ name: navigate, url: "{url}/two?again" }, { name: click, selector: "#nope" }]`;
  await withFiles({ "flow.yml": workflow(steps) }, async (dir) => {
    for (const name of ["tmp", "home"]) await Deno.mkdir(`${dir}/${name}`);
    const DENO_DIR = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
    const child = startCli(["-v", "flow.yml"], {
      cwd: dir,
      // Of the two, the full browser has more to leave.
      env: {
        URL: server.url,
        TMPDIR: `${dir}/tmp`,
        HOME: `${dir}/home`,
        DENO_DIR,
        CHROME: "chromium",
      },
    });
    let said = "";
    const reading = (async () => {
      for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) said += text;
    })();
    await until(() => said.includes("two?again took"), "the second step is in its page");
    assertEquals((await browsersIn(`${dir}/tmp`)).length > 0, true);
    child.kill("SIGINT");
    const stdout = await new Response(child.stdout).text();
    await Promise.all([reading, child.status]);
    assertStringIncludes(stdout, 'the step timed out after 3s in action 2 of 2, click "#nope"');
    assertMatch(stdout, /SIGINT[^\n]* in action 2 of 2, click "#nope"/);
    await assertNothingLeft(`${dir}/tmp`);
    // The runner notes there what has failed.
    await assertNothingLeft(`${dir}/home`, []);
  });
});

Deno.test("browser says at once that it has ended, and the next step has another", async () => {
  await using server = serve();
  const steps = `
      - uses: browser
        with:
          timeout: 5m
          actions: [{ name: navigate, url: "{url}/two" }, { name: click, selector: "#nope" }]
      - uses: browser
        with: { actions: [{ name: navigate, url: "{url}/two" }] }
        test: res.title == "Two"`;
  await withFiles({ "flow.yml": workflow(steps) }, async (dir) => {
    await Deno.mkdir(`${dir}/tmp`);
    const env = { URL: server.url, TMPDIR: `${dir}/tmp` };
    const child = startCli(["-v", "flow.yml"], { cwd: dir, env });
    let said = "";
    const reading = (async () => {
      for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) said += text;
    })();
    await until(() => said.includes("/two took"), "the first step is in its page");
    for (const line of await browsersIn(`${dir}/tmp`)) {
      try {
        Deno.kill(parseInt(line), "SIGKILL");
      } catch {
        // The others end with the first.
      }
    }
    const stdout = await new Response(child.stdout).text();
    await Promise.all([reading, child.status]);
    assertStringIncludes(stdout, 'the browser ended during action 2 of 2, click "#nope"');
    assertStringIncludes(stdout, "2. ✓ browser");
    await assertNothingLeft(`${dir}/tmp`);
  });
});

Deno.test("browser keeps to the permissions of the run", async () => {
  await using server = serve();
  const asked: string[] = [];
  await using other = withServer(({ url }) => {
    asked.push(url);
    return new Response("other");
  });
  const steps = `
      - uses: browser
        with:
          actions:
            - { name: navigate, url: "{url}/two" }
            - name: evaluate
              script: "fetch('${other.url}/two').then(() => 'came', () => 'refused')"
        test: |
          res.results.evaluate == "refused" &&
          res.failed_requests[0].error == "--allow-net does not name 127.0.0.1 port ${other.port}"
      - uses: browser
        with: { actions: [{ name: navigate, url: "${other.url}/two" }] }
      - uses: browser
        with: { actions: [{ name: capture_screenshot, path: out/x.png }] }
      - uses: browser
        with: { actions: [{ name: evaluate, script: "new Promise(r => { const s = new WebSocket('ws://localhost:${other.port}/'); s.onerror = () => r('closed'); s.onopen = () => r('open') })" }] }
        test: res.results.evaluate == "closed"
      - uses: browser
        with: { actions: [{ name: evaluate, script: "new Promise(r => { const s = new WebSocket('ws://127.0.0.1:${other.port}/'); s.onerror = () => r('closed') })" }] }
        test: res.results.evaluate == "closed"
      - uses: browser
        with:
          actions:
            - { name: evaluate, script: "open('${other.url}/cookie'), 1" }
            - { name: expect_url, value: chrome-error }
        test: res.failed_requests[0].url == "${other.url}/cookie"`;
  await withFiles({ "flow.yml": workflow(steps) }, async (dir) => {
    const env = { URL: server.url, TMPDIR: dir };
    const net = `--allow-net=127.0.0.1:${server.port}`;
    const run = async (...args: string[]) =>
      (await runCli([...args, "flow.yml"], { cwd: dir, env })).stdout;
    const narrowed = await run(
      net,
      "--allow-run=chromium-headless-shell",
      "--allow-write=none",
    );
    assertStringIncludes(narrowed, "1. ✓");
    assertStringIncludes(narrowed, `cannot open ${other.url}/two: --allow-net does not name`);
    assertMatch(
      narrowed,
      /cannot write the screenshot to "[^"]*out\/x.png": --allow-write does not name/,
    );
    for (const number of [4, 5, 6]) assertStringIncludes(narrowed, `${number}. ✓`);
    assertEquals(asked, []);
    assertStringIncludes(await run(net), "cannot run browser: --allow-run does not name");
  });
});

Deno.test("browser acts in frames, and what it expects is a test", async () => {
  await using server = serve();
  const other = server.url.replace("127.0.0.1", "localhost");
  const frames = [`"#own"`, `"#other"`, `["#nested", "#deep"]`];
  const inFrame = (frame: string) => `
      - uses: browser
        with:
          actions:
            - { name: type, frame: ${frame}, selector: "#name", value: Ada }
            - { name: click, frame: ${frame}, selector: button }
            - { name: expect_text, frame: ${frame}, selector: button, value: Ada, exact: true }
            - { name: evaluate, frame: ${frame}, script: location.pathname }
            - { name: wait_not_visible, frame: ${frame}, selector: "#nowhere" }`;
  const steps = `
      - uses: browser
        with: { actions: [{ name: navigate, url: "{url}/frames?other=${other}" }, { name: expect_url, value: frames }] }
      ${frames.map(inFrame).join("")}
      - uses: browser
        with: { timeout: 700ms, actions: [{ name: click, frame: "#no", selector: button }] }
      - uses: browser
        with: { timeout: 700ms, actions: [{ name: click, frame: "#own", selector: "#no" }] }
      - uses: browser
        with: { actions: [{ name: click, frame: div, selector: button }] }`;
  await withFiles({ "flow.yml": workflow(steps) }, async (dir) => {
    const { stdout } = await runCli(["flow.yml"], { cwd: dir, env: { URL: server.url } });
    assertStringIncludes(stdout, "4 passed · 3 failed (7)", stdout);
    assertStringIncludes(stdout, 'no frame matches "#no"');
    assertMatch(stdout, /click "#no" in "#own", timed out after 700ms: no element matches "#no"/);
    assertStringIncludes(stdout, 'the element "div" is not a frame');
  });
});

Deno.test("browser waits on where a page replaces elements and frames, whatever scripts it allows", async () => {
  await using server = serve();
  const actions = `
            - { name: navigate, url: "{url}/replaced" }
            - { name: click, selector: button }
            - { name: expect_text, selector: p, value: 1 clicks }
            - { name: navigate, url: "{url}/replaced" }
            - { name: type, frame: iframe, selector: "#name", value: Ada }
            - { name: wait_not_visible, selector: "[disabled]" }
            - { name: evaluate, script: "document.querySelectorAll('button').length" }
            - { name: expect_url, value: replaced }`;
  const steps = `
      - uses: browser
        with:
          actions:${actions}
        test: res.results.evaluate == 1
      - name: the same browser, as these are the defaults
        uses: browser
        with: { headless: true, window_w: 1920, actions: [{ name: expect_url, value: replaced }] }`;
  await withFiles({ "flow.yml": workflow(steps) }, async (dir) => {
    const { code, stdout } = await runCli(["flow.yml"], { cwd: dir, env: { URL: server.url } });
    assertEquals(code, 0, stdout);
  });
});

Deno.test("browser acts in the tab that was opened last, until it is closed", async () => {
  await using server = serve();
  const steps = `
      - uses: browser
        with:
          actions:
            - { name: navigate, url: "{url}/tabs" }
            - { name: click, selector: "#link" }
            - { name: text, selector: h1 }
            - { name: evaluate, script: innerWidth }
        test: res.results.text == "two" && res.results.evaluate == 1920 && res.title == "Two"
      - uses: browser
        with:
          actions:
            - { name: expect_url, value: /two }
            - { name: close_tab }
            - { name: click, selector: "#file" }
            - { name: click, selector: "#brief" }
            - { name: text, selector: h1 }
        test: res.results.text == "first"
      - uses: browser
        with:
          actions:
            - { name: click, selector: "#window" }
            - { name: fill, selector: input, value: chosen }
            - { name: click, selector: button }
            - { name: text, selector: h1 }
        test: res.results.text == "chosen"
      - uses: browser
        with:
          actions:
            - { name: click, selector: "#soon" }
            - { name: expect_text, selector: h1, value: hi }
            - { name: close_tab }
        test: |
          res.dialogs == [{type: "alert", message: "hello"}] && len(res.console_errors) == 1
      - uses: browser
        with:
          actions:
            - { name: click, selector: "#missing" }
            - { name: close_tab }
            - { name: click, selector: "#refused" }
            - { name: close_tab }
        test: |
          map(res.failed_requests, .code) == [404, nil] &&
          res.failed_requests[1].url == "http://127.0.0.1:1024/"
      - uses: browser
        with: { actions: [{ name: close_tab }] }`;
  await withFiles({ "flow.yml": workflow(steps) }, async (dir) => {
    const env = { URL: server.url };
    for (const CHROME of ["chromium-headless-shell", "chromium"]) {
      const { stdout } = await runCli(["flow.yml"], { cwd: dir, env: { ...env, CHROME } });
      assertStringIncludes(stdout, "5 passed · 1 failed (6)", stdout);
      assertStringIncludes(stdout, "close_tab, failed: there is no other tab");
    }
    // What a tab connects to is checked from its first request on.
    const allowed = [`--allow-net=127.0.0.1:${server.port}`, "--allow-run=chromium-headless-shell"];
    const { stdout } = await runCli([...allowed, "flow.yml"], { cwd: dir, env });
    assertStringIncludes(stdout, "5 passed · 1 failed (6)", stdout);
  });
});

Deno.test("jobs at once have browsers of their own, and a name shares one", async () => {
  await using server = serve();
  const job = (name: string, fields: string) => `
  - name: ${name}
    steps:
      - uses: browser
        with: { ${fields}actions: [{ name: navigate, url: "{{vars.url}}/cookie" }, { name: evaluate, script: "document.cookie = 'a=${name}'" }] }
        test: status == 0
      - uses: browser
        with: { ${fields}actions: [{ name: wait_ready }] }
        test: len(res.cookies) == 1`;
  const text = (params: string) =>
    `name: n\nvars: { url: "{{URL}}" }\njobs:${job("A", params)}${job("B", params)}`;
  const files = { "own.yml": text(""), "shared.yml": text("connection: ours, ") };
  await withFiles(files, async (dir) => {
    await Deno.mkdir(`${dir}/tmp`);
    const env = { URL: server.url, TMPDIR: `${dir}/tmp` };
    for (const file of Object.keys(files)) {
      const { code, stdout } = await runCli([file], { cwd: dir, env });
      assertEquals(code, 0, stdout);
    }
    await assertNothingLeft(`${dir}/tmp`);
  });
});

/** The browsers whose profile is in a directory: the id and the arguments of each process. */
async function browsersIn(dir: string): Promise<string[]> {
  const { stdout } = await new Deno.Command("ps", { args: ["-eo", "pid,args"] }).output();
  return new TextDecoder().decode(stdout).split("\n").filter((line) => line.includes(dir));
}

async function assertNothingLeft(dir: string, known: readonly string[] = []): Promise<void> {
  assertEquals(await browsersIn(dir), []);
  const left = [...Deno.readDirSync(dir)].map(({ name }) => name);
  assert(left.every((name) => known.includes(name)), left.join(" "));
}

Deno.test("the example of browser does what it says", async () => {
  const cwd = fromFileUrl(new URL("../../../examples/browser/", import.meta.url));
  const { code, stdout } = await runCli(["pages.yml"], { cwd });
  assertEquals(code, 0, stdout);
});

Deno.test("a browser serves 100 steps in a row, and texts of 10 MB", async () => {
  await using server = serve();
  const steps = `
      - uses: browser
        with: { actions: [{ name: navigate, url: "{url}/" }] }
        test: status == 0
      - uses: browser
        iteration: [${Array.from({ length: 100 }, (_, index) => index).join(", ")}]
        with:
          actions:
            - { name: fill, selector: "#name", value: "number {{vars.item}}" }
            - { name: value, selector: "#name" }
        test: res.results.value == "number " + string(vars.item)
      - uses: browser
        with: { actions: [{ name: evaluate, script: "'x'.repeat(10_000_000)" }] }
        test: len(res.results.evaluate) == 10000000`;
  await withFiles({ "flow.yml": workflow(steps) }, async (cwd) => {
    const { code, stdout } = await runCli(["flow.yml"], { cwd, env: { URL: server.url } });
    assertEquals(code, 0, stdout.slice(0, 3000));
  });
});

/** A server with one of the certificates there. */
function serveTls(name: string) {
  const certificate = tlsCertificate(name);
  const headers = { "access-control-allow-origin": "*" };
  return withServer(() => new Response("in", { headers }), certificate);
}

Deno.test("browser trusts the authorities of the step and of the run", async () => {
  await using good = serveTls("good");
  await using also = serveTls("good");
  await using other = serveTls("other");
  await using self = serveTls("localhost");
  const step = (tls: string, url: string, fields = "") => `
      - uses: browser
        with: { ${tls}actions: [{ name: navigate, url: "${url}/" }${fields}] }
        test: res.http_code == 200`;
  const fetched =
    `, { name: evaluate, script: "fetch('${also.url}').then((one) => one.text())" }, ` +
    `{ name: evaluate, script: "document.body.innerHTML = '<a target=_blank href=${also.url}>go</a>'", id: a }, ` +
    `{ name: click, selector: a }, { name: expect_text, selector: body, value: in }`;
  const ca = "tls: { ca: authority.pem }, ";
  const steps = [
    step(ca, good.url, fetched),
    step(ca, other.url),
    step(ca, self.url),
    step("tls: { ca: localhost.pem }, ", self.url),
    step("", good.url),
  ];
  const files = {
    "flow.yml": workflow(steps.join("")),
    "authority.pem": tlsText("authority.pem"),
    "localhost.pem": tlsText("localhost.pem"),
  };
  await withFiles(files, async (cwd) => {
    const { stdout } = await runCli(["flow.yml"], { cwd });
    const marks = stdout.matchAll(/^ {3}\d\. ([✓✗]) browser/gm);
    assertEquals([...marks].map(([, mark]) => mark).join(""), "✓✗✗✓✗", stdout);
    assertStringIncludes(stdout, 'trust its authority with "tls: { ca: ca.pem }" or --cacert');
    const trusting = await runCli(["--cacert", "authority.pem", "flow.yml"], { cwd });
    assertStringIncludes(trusting.stdout, "5. ✓", trusting.stdout);
  });
});

Deno.test("browser explains certificates, and programs that are not browsers or not there", async () => {
  await using server = serveTls("localhost");
  const step = (params: string, action = `{ name: navigate, url: "${server.url}/" }`) => `
      - uses: browser
        with: { fresh: true, ${params}actions: [${action}] }
        test: res.http_code == 200`;
  const steps = [
    step(""),
    step("tls: { verify: false }, "),
    step("executable: /nowhere/chrome, "),
    step(`executable: "false", `),
    step("sandbox: true, "),
  ];
  await withFiles({ "flow.yml": workflow(steps.join("")) }, async (cwd) => {
    const env = { URL: server.url };
    const { stdout } = await runCli(["flow.yml"], { cwd, env });
    const [first = "", , third = "", fourth = "", fifth = ""] = stdout.split(/^ {1,3}\d+\. /m)
      .slice(1);
    assertMatch(first, /the certificate of 127\.0\.0\.1 port \d+ is invalid \(net::ERR_CERT_\w+\)/);
    assertStringIncludes(first, '"tls: { verify: false }" accepts any certificate');
    assertStringIncludes(stdout, "2. ✓");
    assertStringIncludes(
      third,
      'the program "/nowhere/chrome" of "executable" does not exist (ENOENT)',
    );
    assertStringIncludes(third, "apt-get install chromium-headless-shell");
    assertMatch(
      fourth,
      /cannot run browser: \S+false ended with exit code 1 before it took commands/,
    );
    // Chromium refuses its sandbox to root.
    if (Deno.uid() === 0) assertStringIncludes(fifth, '"sandbox: false" starts it without');
    const empty = await runCli(["flow.yml"], { cwd, env: { ...env, PATH: "/nowhere" } });
    assertStringIncludes(empty.stdout, "cannot run browser: no browser found");
    const insecure = await runCli(["--insecure", "flow.yml"], { cwd, env });
    assertStringIncludes(insecure.stdout, "1. ✓");
  });
});
