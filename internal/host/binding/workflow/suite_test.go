package workflow_test

import (
	"encoding/json"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/workflow"
)

func TestKind(t *testing.T) {
	t.Parallel()
	good := declaration("Flow")
	other := good
	other.Resource = "other"
	bad := func(config, resource string) bundle.Binding {
		return bundle.Binding{Name: "B", Kind: "workflow", Resource: resource, Config: json.RawMessage(config)}
	}
	bindingtest.Run(t, workflow.Kind{}, bindingtest.Suite{
		Classes: `import { WorkflowEntrypoint } from "cloudflare:workers"; export class Flow extends WorkflowEntrypoint {}`,
		Good:    good, Other: other,
		Bad: map[string]bundle.Binding{
			"no resource": bad(`{"class_name":"A"}`, ""), "no config": bad("", "flow"), "no class": bad(`{}`, "flow"),
			"another key": bad(`{"class_name":"A","x":1}`, "flow"), "a name with a space": bad(`{"class_name":"A"}`, "a b"),
		},
		Shape: `if (B.constructor.name !== "WorkflowImpl") throw new Error(B.constructor.name);
			const { id } = await B.create();
			const batch = JSON.stringify(await B.deleteBatch([id, "*/30 * * * *-1786001400000", "never"])).replace(id, "id");
			const gone = (id) => '{"id":"' + id + '","code":10400,"message":"workflows.api.error.instance.not_found"}';
			if (batch !== '{"deleted":[{"id":"id"}],"errors":[' + gone("*/30 * * * *-1786001400000") + "," + gone("never") + "]}") throw new Error(batch);`,
		Refused: map[string]string{
			`await B.create({ id: "-a" })`:                             "Workflow instance has invalid id",
			`await B.create({ id: "a".repeat(101) })`:                  "Workflow instance has invalid id",
			`await B.create({ params: "x".repeat(1 << 21) })`:          "The value of params is too large",
			`await B.create({ id: "a" }); await B.create({ id: "a" })`: `(instance.already_exists) Workflow instance with id`,
			`await B.get("none")`:                                      "instance.not_found",
			`await B.deleteBatch(["a", 1])`:                            "(instance.invalid_id) Instance ID is invalid",
			`await B.createBatch([])`:                                  "batchCreate should have at least 1 instance",
			`await B.createBatch({ count: 101 })`:                      "batchCreate only supports 100 instances at a time",
			`await (await B.create()).sendEvent({ type: "a.b" })`:      "The type of an event",
			`await (await B.create()).resume()`:                        "Cannot resume instance with status",
		},
	})
}
