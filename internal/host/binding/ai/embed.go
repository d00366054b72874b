package ai

import (
	"encoding/json"
	"net/http"

	"github.com/svcctl/svcctl/internal/host/binding"
)

// embeddings is the answer of the API.
type embeddings struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	} `json:"data"`
}

// embed makes a vector of each text.
func (a *api) embed(w http.ResponseWriter, r *http.Request, model string, inputs map[string]json.RawMessage) error {
	texts, err := textsOf(inputs["text"])
	if err != nil {
		return err
	}
	var e embeddings
	if err := a.answer(r.Context(), "/embeddings", map[string]any{"model": model, "input": texts}, &e); err != nil {
		return err
	}
	vectors := make([][]float64, len(texts))
	for _, d := range e.Data {
		if d.Index >= 0 && d.Index < len(vectors) {
			vectors[d.Index] = d.Embedding
		}
	}
	for i, v := range vectors {
		if len(v) == 0 {
			return failf(http.StatusBadGateway, "the AI endpoint gave no embedding of text %d", i)
		}
	}
	return binding.WriteJSON(w, map[string]any{"shape": []int{len(vectors), len(vectors[0])}, "data": vectors})
}

// textsOf reads a text or a list of them.
func textsOf(text json.RawMessage) (texts []string, err error) {
	var one string
	if json.Unmarshal(text, &one) == nil {
		return []string{one}, nil
	}
	if json.Unmarshal(text, &texts) != nil || len(texts) == 0 {
		return nil, failf(badRequest, "text must be a string or a list of strings that is not empty")
	}
	return texts, nil
}
