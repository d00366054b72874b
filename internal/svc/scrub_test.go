package svc_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

func TestScrubSections(t *testing.T) {
	t.Parallel()
	const sections = "all;\n-- database: shop/orders\none;\ntwo;\n  --  database: no section\n-- database:shop/log\r\n-- database: shop/orders\nthree;"
	for name, tc := range map[string]struct{ sql, database, want, code string }{
		"no sections":    {"one;\ntwo;\n", "any", "one;\ntwo;\n", ""},
		"two of them":    {sections, "orders", "all;\n-- database: shop/orders\none;\ntwo;\n  --  database: no section\n\n-- database: shop/orders\nthree;", ""},
		"an empty one":   {sections, "log", "all;\n\n\n\n\n-- database:shop/log\r\n\n\n", ""},
		"none":           {sections, "order", "", "scrub_missing"},
		"another's":      {"-- database: book/orders\nx;", "orders", "", "scrub_missing"},
		"nothing at all": {"", "orders", "", ""},
	} {
		got, err := svc.Scrub{SQL: tc.sql}.For("shop", tc.database)
		if got != tc.want || svc.CodeOf(err) != tc.code {
			t.Errorf("%s: %q, %v; want %q", name, got, err, tc.want)
		}
		if err == nil && strings.Count(got, "\n")+1 < strings.Count(tc.sql, "\n") {
			t.Errorf("%s: lines are missing", name)
		}
	}
}

func TestCheckScrub(t *testing.T) {
	t.Parallel()
	for sql, ok := range map[string]bool{
		"update t set a = 1;":                            true,
		"-- database: shop/orders\nupdate t set a = 1;":  true,
		"-- database: shop/my orders\n":                  true,
		"":                                               false,
		" \n-- to do\n":                                  false,
		"-- database: shop/orders\n-- \n":                true,
		"-- database: orders\nupdate t set a = 1;":       false,
		"update t set a = 1;\n-- database:\n":            false,
		"-- database: shop/\n":                           false,
		"-- database: Shop/orders\n":                     false,
		"-- the database: of customers\nselect 'x/y';\n": true,
	} {
		if err := svc.CheckScrub(sql); (err == nil) != ok {
			t.Errorf("%q: %v", sql, err)
		}
	}
}
