package objstoretest_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
)

func TestMem(t *testing.T) {
	t.Parallel()
	objstoretest.Run(t, &objstoretest.Mem{})
}
