package objects_test

import (
	"encoding/json"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/objects"
)

func TestKind(t *testing.T) {
	t.Parallel()
	bindingtest.Run(t, objects.Kind{}, bindingtest.Suite{
		Good:  bundle.Binding{Name: "B", Kind: "object_store", Resource: "one"},
		Other: bundle.Binding{Name: "B", Kind: "object_store", Resource: "two"},
		Bad: map[string]bundle.Binding{
			"no resource": {Name: "B", Kind: "object_store"},
			"a config":    {Name: "B", Kind: "object_store", Resource: "one", Config: json.RawMessage(`{}`)},
		},
		// Half of the bodies are too large for a row.
		Write: `await B.put(name, value + " ".repeat(value.length % 2 ? 0 : 80000));`,
		Read:  `const o = await B.get(name); return o === null ? null : (await o.text()).trim();`,
		Shape: `if (B.constructor.name !== "R2Bucket") throw new Error(B.constructor.name);`,
		Refused: map[string]string{
			`await B.put("k".repeat(1025), "v")`:                                 "put: The specified object name is not valid. (10020)",
			`await B.put("k", "v", { customMetadata: { a: "x".repeat(8192) } })`: "put: Your metadata headers exceed the maximum allowed metadata size. (10012)",
			`await B.put("k", "v", { sha1: "00".repeat(20) })`:                   "(10037)",
			`await B.put("k", "v".repeat(80000), { md5: "00".repeat(16) })`:      "(10037)",
			`await B.put("k", "v", { storageClass: "Glacier" })`:                 `put: The storage class \"Glacier\" is not valid. (10029)`,
			`await B.put("k", "v", { ssecKey: "00".repeat(32) })`:                "put: Encryption with keys of the caller is not supported",
			`await B.list({ limit: 1001 })`:                                      "list: MaxKeys params must be positive integer <= 1000. (10022)",
			`await B.delete(Array.from({ length: 1001 }, (_, i) => "k" + i))`:    "delete: At most 1000 objects can be deleted at once. (10029)",
			`await B.put("k", "v"); await B.get("k", { range: { offset: 2 } })`:  "get: The requested range is not satisfiable (10039)",
			`await B.resumeMultipartUpload("k", "none").uploadPart(1, "x")`:      "uploadPart: The specified multipart upload does not exist. (10024)",
			`await B.list({ cursor: "?" })`:                                      "list: The cursor is not valid. (10029)",
		},
	})
}
