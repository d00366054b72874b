// Parts of a page, rendered by the server, which replace older ones.

// The server escapes what it renders; this is the only place that makes HTML of text.
const policy = (window as unknown as { trustedTypes?: { createPolicy(name: string, rules: object): { createHTML(text: string): string } } })
  .trustedTypes?.createPolicy("svcctl", { createHTML: (text: string) => text });

/** parse makes elements of HTML that the server rendered. */
export function parse(html: string): DocumentFragment {
  const template = document.createElement("template");
  template.innerHTML = policy ? policy.createHTML(html) : html;
  return template.content;
}

/** load fetches HTML of this site; undefined without an answer. A session that ended shows the sign-in. */
export async function load(url: string): Promise<DocumentFragment | undefined> {
  const answer = await fetch(url, { headers: { Accept: "text/html" }, redirect: "manual" });
  if (answer.status === 401 || answer.type === "opaqueredirect") location.reload();
  return answer.ok ? parse(await answer.text()) : undefined;
}

/** swap replaces elements of the page by their newer selves; all come with one request. */
export async function swap(elements: Element[]): Promise<void> {
  if (elements.length === 0) return;
  const fresh = await load(location.href);
  for (const old of elements) {
    const now = fresh?.getElementById(old.id);
    if (now && old.isConnected && !old.contains(busy()) && old.innerHTML !== now.innerHTML) old.replaceWith(now);
  }
  document.dispatchEvent(new Event("fresh"));
}

// busy is the field that a person types in, which must not be replaced.
function busy(): Element | null {
  const at = document.activeElement;
  return at?.matches("input, select, textarea") ? at : null;
}
