import type { Entry } from "./entries";
import type { Env } from "./env";

const escape = (text: string) =>
  text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

export function page(env: Env, entries: Entry[], visits: number): string {
  const items = entries.map((e) => `<li><b>${escape(e.name)}</b>: ${escape(e.message)}</li>`).join("\n");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Guestbook</title>
<style>body { font: 1rem/1.5 system-ui; max-width: 40rem; margin: 2rem auto }</style>
<h1>${escape(env.GREETING)}, visitor ${visits}</h1>
<form method="post" action="/entries">
  <input name="name" placeholder="Your name" required>
  <input name="message" placeholder="Your message" required>
  <button>Sign</button>
</form>
<ul>
${items}
</ul>
<p><small>${escape(env.PROJECT_ID)} ${escape(env.VERSION_ID)}</small></p>
</html>
`;
}
