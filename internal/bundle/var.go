package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
)

// TextVar is a variable that reaches the worker as a string.
func TextVar(s string) Var { return Var{Text: &s} }

// JSONVar is a variable that reaches the worker as the value of raw. A JSON
// string becomes text.
func JSONVar(raw json.RawMessage) (Var, error) {
	var v Var
	err := v.UnmarshalJSON(raw)
	return v, err
}

// MarshalJSON writes text as a JSON string, and other values in compact form, with
// numbers unchanged digit for digit.
func (v Var) MarshalJSON() ([]byte, error) {
	if v.Text != nil {
		return marshalPlain(*v.Text)
	}
	if len(v.JSON) == 0 {
		return nil, errors.New("encode variable: it has no value")
	}
	var b bytes.Buffer
	if err := json.Compact(&b, v.JSON); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// UnmarshalJSON is the reverse of MarshalJSON.
func (v *Var) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if len(data) > 0 && data[0] == '"' {
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		*v = TextVar(s)
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return err
	}
	*v = Var{JSON: b.Bytes()}
	return nil
}

// marshalPlain is json.Marshal without the escapes meant for HTML.
func marshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
