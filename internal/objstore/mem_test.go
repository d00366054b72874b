package objstore_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/objstore/objstoretest"
)

func TestMem(t *testing.T) {
	t.Parallel()
	objstoretest.Run(t, &objstore.Mem{})
}
