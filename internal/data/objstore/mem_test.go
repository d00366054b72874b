package objstore_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
)

func TestMem(t *testing.T) {
	t.Parallel()
	objstoretest.Run(t, &objstore.Mem{})
}
