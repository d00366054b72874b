package httpapi_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
)

// TestRequiredDeps: what is missing is named in the order of the fields, and optional fields are not.
func TestRequiredDeps(t *testing.T) {
	t.Parallel()
	_, err := httpapi.New(httpapi.Deps{QueueMax: -1, DataPatterns: []string{}, Version: "v1"})
	if err == nil {
		t.Fatal("a server without dependencies was made")
	}
	rest := "\n" + err.Error() + "\n"
	for _, field := range []string{"Projects", "Versions", "DataPatterns", "Logger", "TicketKey", "QueueMax", "MaxUpload"} {
		_, after, found := strings.Cut(rest, "\nhttpapi: Deps."+field+" is not set\n")
		if !found {
			t.Fatalf("Deps.%s is not named, or not in its place:\n%v", field, err)
		}
		rest = "\n" + after
	}
	for _, field := range []string{"InSources", "Settings", "GatewayURL", "Settle", "Pages", "Version", "Client", "Hosts"} {
		if strings.Contains(err.Error(), "Deps."+field+" ") {
			t.Errorf("the optional Deps.%s is required:\n%v", field, err)
		}
	}
}
