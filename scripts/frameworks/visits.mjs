// What a visitor does with each application. A visit notes in `seen` what must be equal on both servers.

const call = async (page, url, init) => page.evaluate(async ([url, init]) => {
  const answer = await fetch(url, init);
  const type = answer.headers.get("content-type")?.split(";")[0];
  return [answer.status, type === "application/json" ? await answer.json() : type];
}, [url, init]);

const json = (body) => ({ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

/** site visits a site of two pages with a button that counts, and an API. */
async function site(page, url, seen) {
  seen.first = (await page.goto(`${url}/`, { waitUntil: "networkidle" })).status();
  seen.title = await page.title();
  seen.text = await page.innerText("body");
  for (let i = 0; i < 3; i++) await page.click("#count");
  await page.waitForFunction(() => document.querySelector("#count").textContent.trim() === "3");
  await page.click("#about");
  await page.waitForFunction(() => document.querySelector("h1")?.textContent === "About");
  seen.reloaded = (await page.reload({ waitUntil: "networkidle" })).status();
  seen.about = await page.innerText("body");
  seen.hello = await call(page, "/api/hello?name=Ada");
  seen.echo = await call(page, "/api/echo", json({ text: "Grüße, 世界", list: [1, 2, 3] }));
  seen.large = (await call(page, "/api/echo", json({ text: "x".repeat(1 << 20) })))[1]?.text?.length;
  const missing = await page.goto(`${url}/missing/page`);
  seen.missing = [missing.status(), missing.headers()["content-type"]];
}

/** reactRouter visits the template of svcctl init. */
async function reactRouter(page, url, seen) {
  seen.first = (await page.goto(`${url}/`, { waitUntil: "networkidle" })).status();
  seen.title = await page.title();
  seen.text = await page.innerText("body");
  const missing = await page.goto(`${url}/missing`);
  seen.missing = [missing.status(), await page.innerText("body")];
}

/** auth signs a visitor up, out and in, and writes notes in between. */
async function auth(page, url, seen) {
  await page.goto(`${url}/`);
  const ada = { email: "ada@example.com", password: "correct horse battery", name: "Ada" };
  const status = async (path, init) => (await call(page, path, init))[0];
  seen.anonymous = await call(page, "/api/notes");
  seen.up = await status("/api/auth/sign-up/email", json(ada));
  seen.again = await status("/api/auth/sign-up/email", json(ada));
  seen.note = await call(page, "/api/notes", json({ text: "first" }));
  seen.out = await status("/api/auth/sign-out", json({}));
  seen.after = await call(page, "/api/notes");
  seen.wrong = await status("/api/auth/sign-in/email", json({ ...ada, password: "wrong password" }));
  seen.in = await status("/api/auth/sign-in/email", json(ada));
  seen.notes = await call(page, "/api/notes", json({ text: "second" }));
  seen.cookies = (await page.context().cookies()).map((c) => [c.name, c.httpOnly, c.sameSite]);
}

/** agent talks with an agent from two connections, and has it work by a schedule. */
async function agent(page, url, seen) {
  await page.goto(`${url}/`);
  seen.said = await page.evaluate(() => new Promise((done, fail) => {
    const list = [], open = () => new WebSocket(`ws://${location.host}/agents/counter/room`);
    const [a, b] = [open(), open()];
    const note = (who) => (m) => {
      const data = JSON.parse(m.data);
      if (data.type === "said") list.push(`${who} ${data.all.join(",")}`);
      if (list.length === 2) done(list.sort());
    };
    a.onmessage = note("a");
    b.onmessage = note("b");
    a.onerror = b.onerror = () => fail(new Error("the websocket failed"));
    Promise.all([a, b].map((s) => new Promise((ready) => (s.onopen = ready)))).then(() => a.send(JSON.stringify({ type: "say", text: "hello" })));
  }));
  seen.posted = await call(page, "/agents/counter/room", json({}));
  seen.ticks = await page.evaluate(async () => {
    for (;;) {
      const { ticks } = await (await fetch("/agents/counter/room")).json();
      if (ticks > 0) return ticks;
    }
  });
  seen.other = await call(page, "/agents/counter/other");
}

export const visits = { site, "react-router": reactRouter, auth, agent };
