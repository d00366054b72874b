package ai

import (
	"encoding/json"
	"slices"
	"strings"
)

// families are the models of Workers AI that do something else than generate text from
// text, by the beginnings of their names: inputs alone do not tell them apart.
//
//nolint:gochecknoglobals // a constant table
var families = map[string][]string{
	"text to image":                {"@cf/black-forest-labs/", "@cf/stabilityai/", "@cf/lykon/", "@cf/bytedance/stable-diffusion", "@cf/runwayml/", "@cf/leonardo/"},
	"automatic speech recognition": {"@cf/openai/whisper", "@cf/deepgram/nova", "@cf/deepgram/flux", "@cf/pipecat-ai/"},
	"text to speech":               {"@cf/myshell-ai/", "@cf/deepgram/aura"},
	"translation":                  {"@cf/meta/m2m100", "@cf/ai4bharat/"},
	"text classification":          {"@cf/huggingface/distilbert", "@cf/baai/bge-reranker"},
	"image classification":         {"@cf/microsoft/resnet"},
	"object detection":             {"@cf/facebook/detr"},
	"image to text":                {"@cf/llava-hf/", "@cf/unum/"},
	"summarization":                {"@cf/facebook/bart"},
}

// fields are inputs of tasks that are not run.
//
//nolint:gochecknoglobals // a constant table
var fields = []struct{ field, task string }{
	{"audio", "automatic speech recognition"},
	{"image", "image to text"},
	{"image_b64", "text to image"},
	{"target_lang", "translation"},
	{"input_text", "summarization"},
	{"contexts", "text classification"},
	{"requests", "a batch of requests"},
	{"input", "the form of the Responses API"},
}

type task int

const (
	generate task = iota
	embed
)

// taskOf says what a call asks for.
func taskOf(model string, inputs map[string]json.RawMessage) (task, error) {
	for what, names := range families {
		if slices.ContainsFunc(names, func(prefix string) bool { return strings.HasPrefix(model, prefix) }) {
			return 0, refused(model, what)
		}
	}
	has := func(name string) bool { return len(inputs[name]) > 0 && string(inputs[name]) != "null" }
	for _, f := range fields {
		if has(f.field) {
			return 0, refused(model, f.task)
		}
	}
	switch {
	case has("messages"), has("prompt"):
		return generate, nil
	case has("text"):
		return embed, nil
	}
	return 0, failf(badRequest, "%s: the inputs have none of messages, prompt and text", model)
}

func refused(model, task string) error {
	return failf(badRequest, "%s: %s is not supported by this server; it runs text generation and embeddings", model, task)
}
