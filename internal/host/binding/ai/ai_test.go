package ai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/ai"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

const key = "sk-not-for-workers"

var good = bundle.Binding{Name: "B", Kind: "ai"}

func TestKind(t *testing.T) {
	t.Parallel()
	bindingtest.Run(t, ai.Kind{}, bindingtest.Suite{
		Good: good, Other: good,
		Bad: map[string]bundle.Binding{
			"a resource": {Name: "B", Kind: "ai", Resource: "x"},
			"a config":   {Name: "B", Kind: "ai", Config: json.RawMessage(`{}`)},
		},
		Shape: `if (typeof B.run !== "function" || B.aiGatewayLogId !== null) throw new Error("shape");`,
		Refused: map[string]string{
			`await B.run("@cf/meta/llama", { prompt: "hi" })`: "InferenceUpstreamError: this server has no AI: its operator can set SVC_AI_URL",
		},
	})
}

// TestWarning: a version on a server without an API says so.
func TestWarning(t *testing.T) {
	t.Parallel()
	set := bindingtest.OpenSet(t, nil, []binding.Kind{ai.Kind{}}, good)
	if got := set.Warnings(); len(got) != 1 || got[0] != "binding B: the server has no SVC_AI_URL; every call of run throws" {
		t.Errorf("%q", got)
	}
	set = bindingtest.OpenSet(t, nil, []binding.Kind{ai.Kind{Backend: svc.AIBackend{URL: "http://127.0.0.1:1"}}}, good)
	if got := set.Warnings(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// endpoint is a small server of the API: it answers with what it was asked.
func endpoint(t *testing.T) svc.AIBackend {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", complete)
	mux.HandleFunc("POST /v1/embeddings", func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Input []string `json:"input"`
		}
		_ = json.NewDecoder(r.Body).Decode(&q)
		var data []string
		for i := range q.Input { // in reverse: the index says which text one is of
			n := len(q.Input) - 1 - i
			data = append(data, fmt.Sprintf(`{"index": %d, "embedding": [%d, 0.5]}`, n, len(q.Input[n])))
		}
		_, _ = fmt.Fprintf(w, `{"data": [%s]}`, strings.Join(data, ","))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return svc.AIBackend{URL: s.URL + "/v1", Key: key, Models: []svc.AIModel{{Name: "@cf/meta/*", Model: "local"}, {Name: "@cf/baai/*", Model: "vectors"}}}
}

func complete(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	var q struct {
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
		Stream bool `json:"stream"`
	}
	if err := json.Unmarshal(text, &q); err != nil || r.Header.Get("Authorization") != "Bearer "+key {
		http.Error(w, `{"error": {"message": "who are you"}}`, http.StatusUnauthorized)
		return
	}
	switch prompt := q.Messages[0].Content; {
	case prompt == "fail":
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = fmt.Fprintf(w, `{"error": {"message": "slow down, %s"}}`, key)
	case prompt == "move":
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	case prompt == "weather":
		_, _ = io.WriteString(w, `{"choices": [{"message": {"content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "look", "arguments": "{\"at\":\"sea\"}"}}]}}]}`)
	case q.Stream && prompt == "cut":
		_, _ = io.WriteString(w, `data: {"choices": [{"delta": {"content": "Hel"}}]}`+"\n\n")
	case q.Stream:
		_, _ = io.WriteString(w, `: a comment

data: {"choices": [{"delta": {"role": "assistant", "content": ""}}]}

data: {"choices": [{"delta": {"content": "Hel"}}]}

data: {"choices": [{"delta": {"content": "lo"}}]}

data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "look", "arguments": "{\"a\""}}]}}]}

data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}}]}

data: {"choices": [], "usage": {"total_tokens": 3}}

data: [DONE]

`)
	default:
		content, _ := json.Marshal(string(text)) // a text
		_, _ = fmt.Fprintf(w, `{"choices": [{"message": {"content": %s}}], "usage": {"total_tokens": 7}}`, content)
	}
}

// caller runs what a request holds: [model, inputs], and gives the result or the error.
const caller = `export default { async fetch(request, env) {
  const [model, inputs, options] = await request.json();
  try {
    const out = await env.B.run(model, inputs, options);
    if (out instanceof ReadableStream) return new Response(out);
    if (out instanceof Response) return new Response(out.status + " " + await out.text());
    return Response.json(out);
  } catch (e) { return new Response(e.name + ": " + e.message); }
} };`

func TestRun(t *testing.T) {
	t.Parallel()
	backend := endpoint(t)
	w := bindingtest.Start(t, bindingtest.OpenSet(t, nil, []binding.Kind{ai.Kind{Backend: backend}}, good), caller)
	for name, c := range map[string]struct{ call, want string }{
		"prompt": {
			`["@cf/meta/llama", {"prompt": "hi", "max_tokens": 5, "top_k": 3}]`,
			`{"response":"{\"max_tokens\":5,\"messages\":[{\"content\":\"hi\",\"role\":\"user\"}],\"model\":\"local\"}","usage":{"total_tokens":7}}`,
		},
		"tools and a schema": {
			`["@cf/meta/llama", {"messages": [{"role": "user", "content": "hi"}], "tools": [{"name": "f"}], "response_format": {"type": "json_schema", "json_schema": {"type": "object"}}}]`,
			`{"response":{"messages":[{"role":"user","content":"hi"}],"model":"local","response_format":{"json_schema":{"name":"answer","schema":{"type":"object"}},"type":"json_schema"},"tools":[{"function":{"name":"f"},"type":"function"}]},"usage":{"total_tokens":7}}`,
		},
		"a call of a tool": {`["@cf/meta/llama", {"prompt": "weather"}]`, `{"response":null,"tool_calls":[{"name":"look","arguments":{"at":"sea"}}]}`},
		"stream": {
			`["@cf/meta/llama", {"prompt": "hi", "stream": true}]`,
			"data: {\"response\":\"Hel\"}\n\ndata: {\"response\":\"lo\"}\n\ndata: {\"response\":\"\",\"tool_calls\":[{\"name\":\"look\",\"arguments\":{\"a\":1}}],\"usage\":{\"total_tokens\":3}}\n\ndata: [DONE]\n\n",
		},
		"a stream cut short": {
			`["@cf/meta/llama", {"prompt": "cut", "stream": true}]`,
			"data: {\"response\":\"Hel\"}\n\ndata: {\"error\":\"the AI endpoint ended the stream: unexpected EOF\"}\n\ndata: [DONE]\n\n",
		},
		"embeddings":     {`["@cf/baai/bge-base-en-v1.5", {"text": ["a", "bcd"]}]`, `{"data":[[1,0.5],[3,0.5]],"shape":[2,2]}`},
		"one embedding":  {`["@cf/baai/bge-base-en-v1.5", {"text": "ab"}]`, `{"data":[[2,0.5]],"shape":[1,2]}`},
		"raw response":   {`["@cf/baai/bge-base-en-v1.5", {"text": "ab"}, {"returnRawResponse": true}]`, `200 {"data":[[2,0.5]],"shape":[1,2]}`},
		"endpoint fails": {`["@cf/meta/llama", {"prompt": "fail"}]`, `InferenceUpstreamError: the AI endpoint answered 429: slow down, [redacted]`},
		"redirect":       {`["@cf/meta/llama", {"prompt": "move"}]`, `InferenceUpstreamError: the AI endpoint answered 307: `},
		"no model":       {`["@hf/other", {"prompt": "hi"}]`, `InferenceUpstreamError: the server has no model for "@hf/other": its operator can add one to SVC_AI_MODELS`},
		"no inputs":      {`["@cf/meta/llama", {}]`, `InferenceUpstreamError: @cf/meta/llama: the inputs have none of messages, prompt and text`},
		"no object":      {`["@cf/meta/llama", [1]]`, `InferenceUpstreamError: the inputs of "@cf/meta/llama" are no object`},
		"image":          {`["@cf/black-forest-labs/flux-1-schnell", {"prompt": "a cat"}]`, `InferenceUpstreamError: @cf/black-forest-labs/flux-1-schnell: text to image is not supported by this server; it runs text generation and embeddings`},
		"translation":    {`["@cf/meta/llama", {"text": "a", "target_lang": "fr"}]`, `InferenceUpstreamError: @cf/meta/llama: translation is not supported by this server; it runs text generation and embeddings`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := w.Post(t, "/", c.call); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestUnreachable: the error does not tell the address of the endpoint.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	backend := svc.AIBackend{URL: "http://operator.invalid:1/v1", Key: key}
	w := bindingtest.Start(t, bindingtest.OpenSet(t, nil, []binding.Kind{ai.Kind{Backend: backend}}, good), caller)
	got := w.Post(t, "/", `["m", {"prompt": "hi"}]`)
	if !strings.HasPrefix(got, "InferenceUpstreamError: the AI endpoint is not reachable") || strings.Contains(got, key) {
		t.Error(got)
	}
}

// TestSecrets: nothing that workerd is given tells the key or the address.
func TestSecrets(t *testing.T) {
	t.Parallel()
	w := ai.Kind{Backend: endpoint(t)}.Wire(good, binding.Site{Address: "unix:/x"})
	if text := fmt.Sprintf("%+v %+v %+v", w.Binding, w.Services, w.Modules); strings.Contains(text, key) || strings.Contains(text, "127.0.0.1") {
		t.Error(text)
	}
}
