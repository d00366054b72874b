package dev

import (
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) {
	svctest.Main(m, map[string]svctest.Role{"keys": printKeys})
}
