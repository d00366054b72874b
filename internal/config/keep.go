package config

import (
	"errors"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// keep reads an age, a number or both, such as "7d,20"; "off" keeps all.
func keep(text string) (k svc.Keep, err error) {
	if text == "off" {
		return k, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		n, err := strconv.Atoi(part)
		if err == nil && n > 0 && k.Count == 0 {
			k.Count = n
			continue
		}
		age, ageErr := Duration(part)
		if err == nil || ageErr != nil || age <= 0 || k.Age != 0 {
			return svc.Keep{}, errors.New("want off, an age such as 7d, a number from 1, or both such as 7d,20")
		}
		k.Age = age
	}
	return k, nil
}
