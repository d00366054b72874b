// Package archtest holds the import law: imports.txt says in its first lines which
// wings each wing may import, and then which packages each package imports. The
// tests check the code against both; the list of packages is exact in both
// directions.
package archtest
