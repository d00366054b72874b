package ai

import (
	"encoding/json"
	"net/http"

	"github.com/svcctl/svcctl/internal/host/binding"
)

// passed are the inputs that the API knows by the same name. top_k, repetition_penalty,
// lora and raw are not among its fields and have no effect.
//
//nolint:gochecknoglobals // a constant table
var passed = []string{
	"temperature", "top_p", "seed", "max_tokens", "max_completion_tokens", "frequency_penalty", "presence_penalty", "stop",
	"tool_choice", "reasoning_effort",
}

// completion is an answer of the API, or one part of a stream.
type completion struct {
	Choices []struct {
		Message message `json:"message"`
		Delta   message `json:"delta"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"` // of a stream
}

type message struct {
	Content   *string    `json:"content"`
	ToolCalls []toolCall `json:"tool_calls"`
}

type toolCall struct {
	Index    int `json:"index"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// calledTool is a call of a tool as Workers AI shows it.
type calledTool struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func (c toolCall) called() calledTool {
	arguments := json.RawMessage(c.Function.Arguments)
	if !json.Valid(arguments) {
		arguments, _ = json.Marshal(c.Function.Arguments) // a text can be encoded
	}
	return calledTool{c.Function.Name, arguments}
}

func calledTools(calls []toolCall) []calledTool {
	list := make([]calledTool, len(calls))
	for i, c := range calls {
		list[i] = c.called()
	}
	return list
}

// generate answers a prompt or a conversation.
func (a *api) generate(w http.ResponseWriter, r *http.Request, model string, inputs map[string]json.RawMessage) error {
	body := chat(model, inputs)
	if string(inputs["stream"]) == "true" {
		return a.stream(w, r, body)
	}
	var c completion
	if err := a.answer(r.Context(), "/chat/completions", body, &c); err != nil {
		return err
	}
	if len(c.Choices) == 0 {
		return failf(http.StatusBadGateway, "the AI endpoint answered without a choice")
	}
	m := c.Choices[0].Message
	out := map[string]any{"response": m.Content}
	if _, asked := body["response_format"]; asked && m.Content != nil && json.Valid([]byte(*m.Content)) {
		out["response"] = json.RawMessage(*m.Content)
	}
	if len(m.ToolCalls) > 0 {
		out["tool_calls"] = calledTools(m.ToolCalls)
	}
	if len(c.Usage) > 0 {
		out["usage"] = c.Usage
	}
	return binding.WriteJSON(w, out)
}

// chat is the request for inputs.
func chat(model string, inputs map[string]json.RawMessage) map[string]any {
	body := map[string]any{"model": model}
	if messages, ok := inputs["messages"]; ok && string(messages) != "null" {
		body["messages"] = messages
	} else {
		body["messages"] = []map[string]json.RawMessage{{"role": json.RawMessage(`"user"`), "content": inputs["prompt"]}}
	}
	for _, name := range passed {
		if v, ok := inputs[name]; ok && string(v) != "null" {
			body[name] = v
		}
	}
	if tools := toolsOf(inputs["tools"]); len(tools) > 0 {
		body["tools"] = tools
	}
	if format := formatOf(inputs["response_format"]); format != nil {
		body["response_format"] = format
	}
	return body
}

// toolsOf brings tools in the short form of Workers AI into that of the API.
func toolsOf(list json.RawMessage) []json.RawMessage {
	var tools []map[string]json.RawMessage
	_ = json.Unmarshal(list, &tools) // anything else is none
	out := make([]json.RawMessage, 0, len(tools))
	for _, t := range tools {
		if _, whole := t["function"]; !whole {
			function, _ := json.Marshal(t) // it was JSON
			t = map[string]json.RawMessage{"type": json.RawMessage(`"function"`), "function": function}
		}
		text, _ := json.Marshal(t) // it was JSON
		out = append(out, text)
	}
	return out
}

// formatOf gives a schema the name that the API wants. Workers AI takes the schema alone.
func formatOf(format json.RawMessage) map[string]json.RawMessage {
	var f, schema map[string]json.RawMessage
	if json.Unmarshal(format, &f) != nil || f == nil {
		return nil
	}
	if json.Unmarshal(f["json_schema"], &schema) == nil && schema != nil && schema["schema"] == nil {
		wrapped, _ := json.Marshal(map[string]json.RawMessage{"name": json.RawMessage(`"answer"`), "schema": f["json_schema"]}) // it was JSON
		f["json_schema"] = wrapped
	}
	return f
}
