//go:build e2e

package e2e

import (
	"fmt"
	"testing"

	"github.com/svcctl/svcctl/pkg/client"
)

// TestEnvUnderLoad changes the variables of a version under load: each change restarts
// its worker, and every request is answered.
// spec: [C5.22]
func TestEnvUnderLoad(t *testing.T) {
	t.Parallel()
	d := started(t)
	prod := d.deploy(ledgerDir, "--version", "v1").ProdURL
	c, load := d.client(), d.loadOn(prod, 4)
	for i := range 3 {
		value := fmt.Sprint(i)
		env, err := c.SetEnv(t.Context(), "ledger", "v1", map[string]string{"ROUND": value}, "")
		if err != nil || env.Overrides()["ROUND"] != value {
			t.Fatalf("%v, %v", env, err)
		}
	}
	if _, err := c.SetEnv(t.Context(), "ledger", "v1", map[string]string{"DB": "shadow"}, ""); client.CodeOf(err) != "env_shadows_binding" {
		t.Errorf("a variable with the name of a binding: %v", err)
	}
	answers := 0
	for _, client := range load() {
		answers += len(client)
	}
	t.Logf("%d answers during 5 restarts", answers)
}
