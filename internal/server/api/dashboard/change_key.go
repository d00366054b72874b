package dashboard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/client"
)

// changeKey stores or deletes the value of a key. A value is stored only if the key still has
// the value that the page showed, or no value if it showed none. Its metadata and the time at
// which it expires stay.
func changeKey(ctx context.Context, c *call, kv client.KV, action string) (string, error) {
	key := c.r.PostFormValue("key")
	switch action {
	case "delete":
		return key + " deleted.", c.api.DeleteValue(ctx, kv, key)
	case "put":
	default:
		return "", &statusError{http.StatusNotFound, "There is no such action."}
	}
	was := "" // the digest of no value
	old, err := c.api.GetValue(ctx, kv, key)
	switch {
	case err == nil:
		was = digest(old.Data)
	case client.CodeOf(err) != svc.CodeKeyNotFound:
		return "", err
	}
	if shown := c.r.PostFormValue("was"); shown != was {
		if shown == "" {
			return "", &statusError{http.StatusConflict, "The key has a value already: open it to change it."}
		}
		return "", &statusError{http.StatusConflict, "The value has changed since the page was shown: open it again."}
	}
	value := client.NewValue{Metadata: old.Metadata, Expiration: old.Expiration}
	return key + " stored.", c.api.PutValue(ctx, kv, key, bytes.NewReader([]byte(typed(c.r.PostFormValue("value")))), value)
}

// digest names a value.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// typed returns the text of a form's field with the line ends that it was shown with: a browser
// sends others.
func typed(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
