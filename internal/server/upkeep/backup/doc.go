// Package backup keeps copies of the registry in an object store, from which a lost
// machine is rebuilt.
//
// A chain is one full copy of the database and the changes after it, one object each:
//
//	_registry/{node}/{chain}/{number}    number 0 is the full copy
//
// Each object is compressed and encrypted (AES-256-GCM) with a key that is derived from
// the recovery key: the registry holds the variables of versions, and the object store may
// belong to another company. An object names its format in clear text; a newer format is an
// error that names both. The content of each object is checked after its decryption
// against a hash of the whole database.
//
// [Log] appends, [Read] restores, [Service] appends what a running registry changes.
// Package daemon runs a Service; the commands of svcctl use Log and Read.
package backup
