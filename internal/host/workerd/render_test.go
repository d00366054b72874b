package workerd_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// full uses every part of the model.
func full(dir string) workerd.Config {
	text, flags := "it's \"quoted\" \\ and\nbroken", `{"beta":true}`
	return workerd.Config{
		Services: []workerd.Service{
			{Name: "user", Worker: &workerd.Worker{
				Modules: []workerd.Module{
					{Name: "index.js", Type: workerd.ESModule, Source: fullScript},
					{Name: "a.txt", Type: workerd.Text, Path: filepath.Join(dir, "a file.txt")},
					{Name: "b.bin", Type: workerd.Data, Source: "\x00\xff\x10"},
					{Name: "c.json", Type: workerd.JSON, Source: `{"c":1}`},
					{Name: "d.cjs", Type: workerd.CommonJS, Source: "module.exports = 4"},
					{Name: "e.wasm", Type: workerd.Wasm, Source: "\x00asm\x01\x00\x00\x00"},
				},
				CompatibilityDate:  "2026-11-01",
				CompatibilityFlags: []string{"urlpattern_original"},
				Bindings: []workerd.Binding{
					{Name: "TEXT", Text: &text},
					{Name: "FLAGS", JSON: &flags},
					{Name: "SELF", Service: &workerd.ServiceRef{Name: "user", Entrypoint: "Api", Props: `{"p":2}`}},
					{Name: "KV", KVNamespace: "kv"},
					{Name: "R2", R2Bucket: "kv"},
					{Name: "QUEUE", Queue: "kv"},
					{Name: "WRAP", Wrapped: &workerd.Wrapped{Module: "svc-internal:wrap", Entrypoint: "make", Inner: []workerd.Binding{{Name: "inner", Text: &text}}}},
				},
				GlobalOutbound: "net", CacheAPIOutbound: "kv",
			}},
			{Name: "kv", External: &workerd.External{
				Address: "unix:" + filepath.Join(dir, "kv"), ForwardedProtoHeader: "X-Proto",
				InjectRequestHeaders: []workerd.Header{{Name: "X-Svc-Binding", Value: "kv/ns"}},
			}},
			{Name: "net", Network: &workerd.Network{Allow: []string{"public"}, Deny: []string{"0.0.0.0/8"}}},
			{Name: "files", Disk: &workerd.Disk{Path: dir, Writable: true}},
		},
		Sockets: []workerd.Socket{{
			Name: "http", Address: "unix:" + filepath.Join(dir, "s"), Service: workerd.ServiceRef{Name: "user"},
			ForwardedProtoHeader: "X-Proto", CFBlobHeader: "X-Cf",
		}},
		Extensions: []workerd.Module{{
			Name: "svc-internal:wrap", Type: workerd.ESModule, Source: "export function make(env) { return () => env.inner }",
		}},
		V8Flags: []string{"--max-old-space-size=128"},
	}
}

const fullScript = `
import text from "./a.txt"; import bin from "./b.bin"; import conf from "./c.json"; import cjs from "./d.cjs"; import wasm from "./e.wasm";
import { WorkerEntrypoint } from "cloudflare:workers";
export class Api extends WorkerEntrypoint { props() { return this.ctx.props.p; } }
export default { async fetch(req, env) {
  return Response.json({ text, bin: [...new Uint8Array(bin)], conf, cjs, wasm: wasm instanceof WebAssembly.Module,
    TEXT: env.TEXT, FLAGS: env.FLAGS, props: await env.SELF.props(), wrap: env.WRAP(), kv: typeof env.KV.get, r2: typeof env.R2.get, queue: typeof env.QUEUE.send });
} };`

func TestRenderGolden(t *testing.T) {
	t.Parallel()
	got, err := workerd.Render(full("/run/v"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := workerd.Render(full("/run/v"))
	if err != nil || string(got) != string(again) {
		t.Fatalf("the second rendering differs: %v", err)
	}
	svctest.Golden(t, "testdata/full.capnp", string(got))
}

func TestRenderIsUnderstood(t *testing.T) {
	t.Parallel()
	p := mustStart(t, func(dir string) workerd.Config {
		if err := os.WriteFile(filepath.Join(dir, "a file.txt"), []byte("from a file"), 0o600); err != nil {
			t.Fatal(err)
		}
		return full(dir)
	})
	var got map[string]any
	body := p.get(t, "/")
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	text := "it's \"quoted\" \\ and\nbroken"
	want := map[string]any{
		"text": "from a file", "bin": []any{0.0, 255.0, 16.0}, "conf": map[string]any{"c": 1.0}, "cjs": 4.0, "wasm": true,
		"TEXT": text, "FLAGS": map[string]any{"beta": true}, "props": 2.0, "wrap": text,
		"kv": "function", "r2": "function", "queue": "function",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the worker saw (-want +got):\n%s", diff)
	}
}

// TestQuotingRoundTrip sends awkward and random strings through the real parser.
func TestQuotingRoundTrip(t *testing.T) {
	t.Parallel()
	values := append(awkward(), randomStrings(300)...)
	w := script(`export default { fetch(req, env) { return Response.json(env) } }`)
	want := map[string]string{}
	for i, v := range values {
		name := "V" + string(rune('A'+i/26/26)) + string(rune('A'+i/26%26)) + string(rune('A'+i%26))
		w.Bindings = append(w.Bindings, workerd.Binding{Name: name, Text: &v})
		want[name] = v
	}
	p := mustStart(t, func(dir string) workerd.Config { return config(dir, w) })
	var got map[string]string
	if err := json.Unmarshal([]byte(p.get(t, "/")), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func awkward() []string {
	all := []string{
		"", `"`, `\`, `\"`, `\\`, `\n`, "\n", "\r\n", "\t", "\x00", "\x00ab", "\x01f", "\x1b[0m", "\x7f", "${x}", "`", "# no comment", `\u0041`, `\x41`, "0x\"00\"",
		"é", "日本語", "😀", "\u2028\u2029", "\ufeffbom", "\ufffd", "end\\", strings.Repeat("long ", 20000), `"); system("`,
	}
	var control strings.Builder
	for c := range 0x80 {
		control.WriteByte(byte(c))
	}
	return append(all, control.String())
}

func randomStrings(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		for range r.IntN(40) {
			c := rune(r.IntN(0x100))
			if r.IntN(4) == 0 {
				c = rune(r.IntN(0x10ffff))
			}
			b.WriteRune(c) // a surrogate becomes U+FFFD, which is a string too
		}
		out[i] = b.String()
	}
	return out
}

// FuzzQuoting holds that one literal is written, on one line, which reads back
// as the value.
func FuzzQuoting(f *testing.F) {
	for _, s := range awkward() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		w := script("export default {}")
		w.Bindings = []workerd.Binding{{Name: "V", Text: &value}}
		text, err := workerd.Render(config("/run", w))
		if !utf8.ValidString(value) {
			if err == nil {
				t.Fatal("invalid UTF-8 was accepted")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		const before = `bindings = [(name = "V", text = `
		_, rest, ok := strings.Cut(string(text), before)
		if !ok {
			t.Fatalf("no binding in\n%s", text)
		}
		got, after := readLiteral(t, rest)
		if got != value || !strings.HasPrefix(after, ")])),\n") {
			t.Fatalf("%q reads back as %q, followed by %.20q", value, got, after)
		}
	})
}

// readLiteral reads a capnp Text literal as capnp does.
func readLiteral(t *testing.T, s string) (value, rest string) {
	t.Helper()
	if s[0] != '"' {
		t.Fatalf("%.20q does not begin with a quote", s)
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:]
		case c == '\n':
			t.Fatal("a raw line break in a literal")
		case c == '\\' && s[i+1] == 'x':
			const hexDigits = "0123456789abcdef"
			b.WriteByte(byte(strings.IndexByte(hexDigits, s[i+2])<<4 | strings.IndexByte(hexDigits, s[i+3])))
			i += 3
		case c == '\\' && s[i+1] == 'n':
			b.WriteByte('\n')
			i++
		case c == '\\':
			b.WriteByte(s[i+1])
			i++
		default:
			b.WriteByte(c)
		}
	}
	t.Fatal("the literal does not end")
	return "", ""
}

func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	text := "x"
	secret := "{\"secret\":"
	tests := map[string]struct {
		spoil func(c *workerd.Config)
		want  string
	}{
		"duplicate service":   {func(c *workerd.Config) { c.Services = append(c.Services, c.Services[0]) }, `service "user" is there twice`},
		"nameless service":    {func(c *workerd.Config) { c.Services[1].Name = "" }, "service without a name"},
		"two parts":           {func(c *workerd.Config) { c.Services[1].Disk = &workerd.Disk{Path: "/"} }, "has 2 parts"},
		"no part":             {func(c *workerd.Config) { c.Services[1].External = nil }, "has 0 parts"},
		"no sockets":          {func(c *workerd.Config) { c.Sockets = nil }, "no sockets"},
		"duplicate socket":    {func(c *workerd.Config) { c.Sockets = append(c.Sockets, c.Sockets[0]) }, `socket "http" is there twice`},
		"socket to nowhere":   {func(c *workerd.Config) { c.Sockets[0].Service.Name = "nope" }, `socket "http" refers to service "nope"`},
		"socket to nothing":   {func(c *workerd.Config) { c.Sockets[0].Service.Name = "" }, "refers to no service"},
		"relative socket":     {func(c *workerd.Config) { c.Sockets[0].Address = "unix:s" }, `path "s" is not absolute`},
		"long socket path":    {func(c *workerd.Config) { c.Sockets[0].Address = "unix:/" + strings.Repeat("d", 110) }, "longer than 103"},
		"no address":          {func(c *workerd.Config) { c.Services[1].External.Address = "" }, "has no address"},
		"nameless header":     {func(c *workerd.Config) { c.Services[1].External.InjectRequestHeaders[0].Name = "" }, "header without a name"},
		"closed network":      {func(c *workerd.Config) { c.Services[2].Network.Allow = nil }, "allows nothing"},
		"relative disk":       {func(c *workerd.Config) { c.Services[3].Disk.Path = "d" }, `path "d" is not absolute`},
		"no modules":          {func(c *workerd.Config) { user(c).Modules = nil }, "has no modules"},
		"text entry point":    {func(c *workerd.Config) { user(c).Modules = user(c).Modules[1:] }, "is not an ES module"},
		"duplicate module":    {func(c *workerd.Config) { user(c).Modules[1].Name = "index.js" }, `module "index.js" is there twice`},
		"unknown module type": {func(c *workerd.Config) { user(c).Modules[1].Type = "python" }, `unknown type "python"`},
		"relative module":     {func(c *workerd.Config) { user(c).Modules[1].Path = "a.txt" }, `path "a.txt" is not absolute`},
		"two contents":        {func(c *workerd.Config) { user(c).Modules[1].Source = "x" }, "both a source and a path"},
		"module not UTF-8":    {func(c *workerd.Config) { user(c).Modules[0].Source = "\xff" }, "not valid UTF-8"},
		"no date":             {func(c *workerd.Config) { user(c).CompatibilityDate = "" }, "no compatibility date"},
		"outbound to nowhere": {func(c *workerd.Config) { user(c).GlobalOutbound = "nope" }, `refers to service "nope"`},
		"cache to nowhere":    {func(c *workerd.Config) { user(c).CacheAPIOutbound = "nope" }, `refers to service "nope"`},
		"duplicate binding":   {func(c *workerd.Config) { user(c).Bindings[1].Name = "TEXT" }, `binding "TEXT" is there twice`},
		"two values":          {func(c *workerd.Config) { user(c).Bindings[1].Text = &text }, "has 2 values"},
		"no value":            {func(c *workerd.Config) { user(c).Bindings[0].Text = nil }, "has 0 values"},
		"bad JSON":            {func(c *workerd.Config) { user(c).Bindings[1].JSON = &secret }, `binding "FLAGS" is not valid JSON`},
		"bad props":           {func(c *workerd.Config) { user(c).Bindings[2].Service.Props = "{" }, "props is not valid JSON"},
		"binding to nowhere":  {func(c *workerd.Config) { user(c).Bindings[3].KVNamespace = "nope" }, `refers to service "nope"`},
		"inner to nowhere": {func(c *workerd.Config) {
			user(c).Bindings[6].Wrapped.Inner[0] = workerd.Binding{Name: "f", Service: &workerd.ServiceRef{Name: "nope"}}
		}, `refers to service "nope"`},
		"wraps nothing":       {func(c *workerd.Config) { user(c).Bindings[6].Wrapped.Module = "" }, "wraps no module"},
		"text extension":      {func(c *workerd.Config) { c.Extensions[0].Type = workerd.Text }, "is not an ES module"},
		"duplicate extension": {func(c *workerd.Config) { c.Extensions = append(c.Extensions, c.Extensions[0]) }, "is there twice"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := full("/run/v")
			tt.spoil(&c)
			_, err := workerd.Render(c)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Render: %v; want %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error holds the value: %v", err)
			}
		})
	}
}

func user(c *workerd.Config) *workerd.Worker { return c.Services[0].Worker }
