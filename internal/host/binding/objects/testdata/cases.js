// The cases of TestOracle: each makes calls on a bucket of its own keys and says
// what they gave. Times, versions and upload ids are left out of what is said.
const MiB = 1024 * 1024;
const bytes = (n, seed = 1) => {
  const b = new Uint8Array(n);
  for (let i = 0, x = seed; i < n; i++) { x = (x * 1103515245 + 12345) & 0x7fffffff; b[i] = x >> 16; }
  return b;
};
const hex = (b) => [...new Uint8Array(b)].map((x) => x.toString(16).padStart(2, "0")).join("");
const digest = async (algorithm, data) => hex(await crypto.subtle.digest(algorithm, typeof data === "string" ? new TextEncoder().encode(data) : data));
const late = new Date(4e12), early = new Date(1e12);

async function plain(v) {
  if (v === undefined) return "undefined";
  if (v === null || typeof v !== "object") return v;
  if (v instanceof Date) return "a date";
  if (Array.isArray(v)) return Promise.all(v.map(plain));
  if (v.constructor.name === "HeadResult" || v.constructor.name === "GetResult" || "httpEtag" in v) {
    const o = {
      key: v.key, size: v.size, etag: v.etag, httpEtag: v.httpEtag, http: v.httpMetadata, custom: v.customMetadata,
      range: v.range, checksums: v.checksums.toJSON(), version: v.version.length, uploaded: v.uploaded instanceof Date,
    };
    if (v.httpMetadata?.cacheExpiry) o.http = { ...o.http, cacheExpiry: v.httpMetadata.cacheExpiry.getTime() };
    if ("body" in v && v.body) {
      const body = await v.arrayBuffer();
      o.body = body.byteLength > 40 ? await digest("SHA-256", body) : new TextDecoder().decode(body);
    }
    const headers = new Headers();
    try { v.writeHttpMetadata(headers); o.headers = [...headers]; } catch (e) { o.headers = String(e); }
    return o;
  }
  if ("objects" in v) {
    return { objects: await Promise.all(v.objects.map(plain)), truncated: v.truncated, cursor: v.cursor ?? null, prefixes: v.delimitedPrefixes };
  }
  if ("uploadId" in v) return { upload: v.key };
  if ("partNumber" in v) return { part: v.partNumber, etag: typeof v.etag };
  return v;
}

const cases = {
  async objects(B, say) {
    await say(() => B.head("none"));
    await say(() => B.get("none"));
    await say(() => B.delete("none"));
    for (const [i, v] of ["text", "", new Uint8Array([0, 255, 128]), bytes(80000), bytes(300000, 7), null, new Blob(["blob"])].entries()) {
      await say(() => B.put("o" + i, v));
      await say(() => B.head("o" + i));
      await say(() => B.get("o" + i));
    }
    await say(() => B.put("o0", "again"));
    await say(() => B.get("o0"));
    await say(() => B.put("o3", "small now"));
    await say(() => B.get("o3"));
    await say(() => B.put("o0", bytes(80000, 9)));
    await say(() => B.get("o0"));
    await say(() => B.delete("o0"));
    await say(() => B.get("o0"));
    await say(() => B.delete(["o1", "o2", "none", "o3"]));
    await say(() => B.list());
    await say(() => B.delete([]));
    await say(() => B.delete(["o4", "o5", "o6"]));
    await say(() => B.list());
  },

  async keys(B, say) {
    const odd = ["a/../b", "//", "/", ".", "..", "a%2Fb", "a+b c", "é 😀", "?q=1&x", "#f", "%", "a\nb", "~", "\\", "\u2028", "'\"", "\uffff", "k".repeat(1024), "é".repeat(512)];
    for (const k of odd) {
      await say(() => B.put(k, "value of " + k));
      await say(() => B.get(k));
    }
    await say(() => B.put("k".repeat(1025), "x"));
    await say(() => B.get("é".repeat(513)));
    await say(() => B.head("k".repeat(1025)));
    await say(() => B.delete("k".repeat(1025)));
    await say(() => B.createMultipartUpload("k".repeat(1025)));
    await say(() => B.list());
    await say(() => B.delete(odd));
  },

  async metadata(B, say) {
    const all = { contentType: "text/html; charset=utf-8", contentLanguage: "de", contentDisposition: 'attachment; filename="x"', contentEncoding: "identity", cacheControl: "max-age=60", cacheExpiry: new Date(1.9e12) };
    await say(() => B.put("m", "x", { httpMetadata: all, customMetadata: { a: "1", b: "é😀", "": "empty", "UPPER": "" } }));
    await say(() => B.head("m"));
    await say(() => B.get("m"));
    await say(() => B.put("m", "x", { httpMetadata: { contentType: "a/b" } }));
    await say(() => B.head("m"));
    await say(() => B.put("m", "x", { httpMetadata: new Headers({ "content-type": "c/d", "cache-control": "no-store", expires: "Wed, 21 Oct 2026 07:28:00 GMT", "x-other": "y" }) }));
    await say(() => B.head("m"));
    await say(() => B.put("m", "x", { customMetadata: {} }));
    await say(() => B.head("m"));
    await say(() => B.put("m", "x", { customMetadata: { k: "v".repeat(2047) } }));
    await say(() => B.put("m", "x", { customMetadata: { k: "é".repeat(2047) } }));
    await say(() => B.put("m", "x", { customMetadata: { k: "ÿ".repeat(2047) } }));
    await say(() => B.put("m", "x", { customMetadata: { k: "€".repeat(1023) } }));
    await say(() => B.put("m", "x", { customMetadata: { k: "😀".repeat(511), z: "y" } }));
    await say(async () => { const h = new Headers(); (await B.get("m")).writeHttpMetadata(h); return [...h]; });
  },

  async checksums(B, say) {
    for (const data of ["hello", bytes(90000)]) {
      const md5 = (await B.put("c", data)).etag;
      await say(() => B.put("c", data, { md5 }));
      await say(() => B.head("c"));
      for (const [name, algorithm] of [["sha1", "SHA-1"], ["sha256", "SHA-256"], ["sha384", "SHA-384"], ["sha512", "SHA-512"]]) {
        const sum = await digest(algorithm, data);
        await say(() => B.put("c", data, { [name]: sum }));
        await say(() => B.get("c"));
        await say(() => B.put("c", "other" + name, { [name]: sum }));
      }
      await say(() => B.put("c", "other", { md5 }));
      await say(() => B.put("c", "other", { md5: "00" }));
      await say(() => B.put("c", "other", { md5: "0".repeat(32), sha1: "0".repeat(40) }));
      await say(() => B.get("c"));
    }
  },

  async ranges(B, say) {
    for (const [key, data] of [["small", "0123456789"], ["large", bytes(70000)], ["empty", ""]]) {
      await B.put(key, data);
      for (const range of [
        { offset: 0 }, { offset: 3 }, { offset: 9 }, { offset: 10 }, { offset: 11 }, { length: 0 }, { length: 4 }, { length: 99999999 },
        { offset: 2, length: 3 }, { offset: 9, length: 5 }, { offset: 2, length: 0 }, { suffix: 3 }, { suffix: 0 }, { suffix: 10 }, { suffix: 99999999 },
        { offset: 0, length: 0 }, { offset: 20000, length: 20000 }, { suffix: 20000 }, {}, { offset: 2.7, length: 3.2 }, { offset: 1, suffix: 2 },
      ]) await say(() => B.get(key, { range }));
      for (const header of [
        "bytes=0-", "bytes=2-4", "bytes=2-400000", "bytes=-3", "bytes=-0", "bytes=-10", "bytes=-99999999", "bytes=5-2", "bytes=10-", "bytes=9-9",
        "bytes=0-1,3-4", "bytes=0-1,", "items=0-1", "BYTES = 1 - 2", "bytes=", "bytes=-", "bytes", "", "bytes=a-b", "bytes=1-2x", "bytes=20000-39999",
      ]) await say(() => B.get(key, { range: new Headers({ range: header }) }));
      await say(() => B.get(key, { range: new Headers() }));
    }
  },

  async conditions(B, say) {
    await B.put("c", "0123456789");
    const { etag, uploaded } = await B.head("c");
    const at = uploaded.getTime();
    const all = [
      { etagMatches: etag }, { etagMatches: "other" }, { etagMatches: "*" }, { etagDoesNotMatch: etag }, { etagDoesNotMatch: "other" }, { etagDoesNotMatch: "*" },
      { uploadedBefore: late }, { uploadedBefore: early }, { uploadedAfter: late }, { uploadedAfter: early },
      { uploadedBefore: new Date(at) }, { uploadedBefore: new Date(at + 1) }, { uploadedAfter: new Date(at) }, { uploadedAfter: new Date(at - 1) },
      { uploadedAfter: new Date(at), secondsGranularity: true }, { uploadedBefore: new Date(at), secondsGranularity: true },
      { uploadedAfter: new Date(at - 2000), secondsGranularity: true }, { uploadedBefore: new Date(at + 2000), secondsGranularity: true },
      { etagMatches: etag, uploadedBefore: early }, { etagMatches: etag, uploadedAfter: late }, { etagDoesNotMatch: "other", uploadedAfter: late },
      { etagDoesNotMatch: "other", uploadedBefore: early }, { etagMatches: etag, etagDoesNotMatch: etag }, { etagMatches: "other", etagDoesNotMatch: "other" },
      { etagMatches: etag, etagDoesNotMatch: "other", uploadedAfter: late, uploadedBefore: early }, {}, { etagMatches: `"${etag}"` }, { etagMatches: "" },
    ];
    for (const onlyIf of all) await say(() => B.get("c", { onlyIf }));
    for (const [name, value] of [
      ["if-match", `"${etag}"`], ["if-match", `"other"`], ["if-match", "*"], ["if-match", `W/"${etag}"`], ["if-match", `"other", "${etag}"`],
      ["if-none-match", `"${etag}"`], ["if-none-match", `W/"${etag}"`], ["if-none-match", "*"], ["if-none-match", `"other", W/"another"`],
      ["if-modified-since", late.toUTCString()], ["if-modified-since", early.toUTCString()], ["if-unmodified-since", late.toUTCString()], ["if-unmodified-since", early.toUTCString()],
      ["if-modified-since", new Date(at).toUTCString()],
    ]) await say(() => B.get("c", { onlyIf: new Headers({ [name]: value }) }));
    await say(() => B.get("c", { onlyIf: { etagMatches: "other" }, range: { offset: 2, length: 2 } }));
    await say(() => B.get("none", { onlyIf: { etagMatches: etag } }));
    for (const onlyIf of all) {
      await say(() => B.put("new", "x", { onlyIf }));
      await say(() => B.head("new"));
      await B.delete("new");
    }
    for (const onlyIf of all.slice(0, 10)) {
      await say(() => B.put("c", "0123456789", { onlyIf }));
      await say(() => B.put("large", bytes(80000), { onlyIf }));
      await say(() => B.put("c", "0123456789", { onlyIf, sha1: "0".repeat(40) }));
    }
    await say(() => B.put("c", "first wins", { onlyIf: new Headers({ "if-none-match": "*" }) }));
    await say(() => B.put("fresh", "first wins", { onlyIf: new Headers({ "if-none-match": "*" }) }));
    await say(() => B.get("fresh"));
  },

  async lists(B, say) {
    const keys = ["a", "a/1", "a/2", "a/b/1", "a/b/2", "a0", "b//x", "b/y", "c", "c--1--2", "c--3", "d/", "d/e", "é/1", "é/2", "z", "😀/x", "\uffff"];
    for (const k of keys) await B.put(k, k, { customMetadata: { k }, httpMetadata: { contentType: "t/" + k.length } });
    await say(() => B.list());
    for (const limit of [1, 3, 100, 1000, 1001, 0, -1]) await say(() => B.list({ limit }));
    for (const prefix of ["a", "a/", "é", "none", "", "z", "\uffff"]) await say(() => B.list({ prefix }));
    for (const delimiter of ["/", "--", "", "é", "none"]) {
      await say(() => B.list({ delimiter }));
      await say(() => B.list({ delimiter, prefix: "a" }));
      await say(() => B.list({ delimiter, prefix: "a/" }));
      await say(() => B.list({ delimiter, prefix: "c" }));
      for (const limit of [1, 2, 3, 5]) {
        let cursor;
        do {
          const page = await B.list({ delimiter, limit, cursor });
          await say(() => page);
          cursor = page.truncated ? page.cursor : undefined;
        } while (cursor !== undefined);
      }
    }
    for (const startAfter of ["a", "a/1", "a/b", "b", "z", "zz", ""]) {
      await say(() => B.list({ startAfter }));
      await say(() => B.list({ startAfter, delimiter: "/" }));
      await say(() => B.list({ startAfter, prefix: "a/", limit: 2 }));
    }
    const first = await B.list({ limit: 4 });
    await say(() => B.list({ cursor: first.cursor, limit: 4 }));
    await say(() => B.list({ cursor: first.cursor, startAfter: "a" }));
    await say(() => B.list({ cursor: first.cursor, startAfter: "d/" }));
    await say(() => B.list({ cursor: first.cursor, prefix: "c" }));
    for (const include of [[], ["httpMetadata"], ["customMetadata"], ["httpMetadata", "customMetadata"]]) {
      await say(() => B.list({ include, limit: 2 }));
      await say(() => B.list({ include, limit: 3, delimiter: "/" }));
    }
    await say(() => B.list({ include: ["other"] }));
    for (let i = 0; i < 120; i++) await B.put("many/" + String(i).padStart(3, "0"), "");
    await say(() => B.list({ prefix: "many/", include: ["httpMetadata"] }));
    await say(() => B.list({ prefix: "many/", delimiter: "0" }));
  },

  async uploads(B, say) {
    const five = bytes(5 * MiB, 3);
    await say(() => B.createMultipartUpload("u", { customMetadata: { a: "b" }, httpMetadata: { contentType: "x/y" } }));
    const u = await B.createMultipartUpload("u", { customMetadata: { a: "b" }, httpMetadata: { contentType: "x/y" } });
    await say(() => B.head("u"));
    await say(() => u.uploadPart(0, "x"));
    await say(() => u.uploadPart(10001, "x"));
    await say(() => u.uploadPart(1, five));
    const one = await u.uploadPart(1, five), two = await u.uploadPart(2, "the end");
    await say(() => two);
    await say(() => u.complete([{ partNumber: 1, etag: "other" }, two]));
    await say(() => u.complete([one, { partNumber: 3, etag: two.etag }]));
    await say(() => u.complete([one, one]));
    await say(() => u.complete([two, one]));
    await say(() => B.head("u"));
    await say(() => u.complete([one, two]));
    await say(() => B.head("u"));
    await say(() => B.get("u"));
    for (const range of [{ offset: 5 * MiB - 2, length: 4 }, { suffix: 3 }, { offset: 5 * MiB }, { offset: 0, length: 5 }, { suffix: 8 }, { offset: 5 * MiB + 7 }])
      await say(() => B.get("u", { range }));
    await say(() => u.complete([one, two]));
    await say(() => u.abort());
    await say(() => u.uploadPart(3, "late"));
    await say(() => B.get("u", { onlyIf: { etagDoesNotMatch: "x" } }));

    const same = await B.createMultipartUpload("u");
    const only = await same.uploadPart(7, "only");
    await say(() => same.complete([only]));
    await say(() => B.get("u"));

    const again = await B.createMultipartUpload("again");
    const old = await again.uploadPart(1, "old"), fresh = await again.uploadPart(1, "new");
    await say(() => again.complete([old]));
    await say(() => again.complete([fresh]));
    await say(() => B.get("again"));

    const small = await B.createMultipartUpload("small");
    const parts = [await small.uploadPart(1, "a"), await small.uploadPart(2, "b")];
    await say(() => small.complete(parts));
    await say(() => small.abort());
    await say(() => small.abort());
    await say(() => small.complete(parts));

    const uneven = await B.createMultipartUpload("uneven");
    const sizes = [await uneven.uploadPart(1, five), await uneven.uploadPart(2, bytes(5 * MiB + 1)), await uneven.uploadPart(3, "x")];
    await say(() => uneven.complete(sizes));
    await say(() => uneven.complete([sizes[0], sizes[1]]));
    await say(() => uneven.complete([sizes[1], sizes[2]]));
    await say(() => B.get("uneven"));

    const none = await B.createMultipartUpload("none");
    await say(() => none.complete([]));
    await say(() => B.get("none"));

    const gone = B.resumeMultipartUpload("u", "no-such-upload");
    await say(() => gone);
    await say(() => gone.uploadPart(1, "x"));
    await say(() => gone.complete([]));
    await say(() => gone.abort());
    const key = B.resumeMultipartUpload("other key", (await B.createMultipartUpload("key")).uploadId);
    await say(() => key.uploadPart(1, "x"));
    await say(() => B.put("u", "replaces all parts"));
    await say(() => B.get("u"));
  },
};

export default {
  async fetch(req, env) {
    const lines = [];
    const say = async (call) => {
      try { lines.push(JSON.stringify({ value: await plain(await call()) })); }
      catch (e) { lines.push(JSON.stringify({ error: String(e) })); }
    };
    await cases[new URL(req.url).pathname.slice(1)](env.B, say);
    return new Response(lines.join("\n"));
  },
};
