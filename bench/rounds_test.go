package main

import (
	"math"
	"slices"
	"testing"
)

func TestAlternateTurnsAround(t *testing.T) {
	t.Parallel()
	var order []float64
	take := func(n float64) subject {
		return func() (float64, error) {
			order = append(order, n)
			return n, nil
		}
	}
	figures, err := alternate(2, take(1), take(2), take(3))
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{1, 2, 3, 3, 2, 1}; !slices.Equal(order, want) {
		t.Errorf("measured in the order %v, want %v", order, want)
	}
	if want := []float64{2, 2}; !slices.Equal(figures[1], want) {
		t.Errorf("the second has %v, want %v", figures[1], want)
	}
}

func TestStatistics(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"median of an odd number", median([]float64{9, 1, 5}), 5},
		{"median of an even number", median([]float64{9, 1, 5, 7}), 6},
		{"quantile", quantile([]float64{5, 4, 3, 2, 1}, 0.9), 5},
		{"ratio", ratio([]float64{2, 30, 4}, []float64{1, 10, 1}), 3},
	} {
		if math.Abs(tt.got-tt.want) > 1e-9 {
			t.Errorf("%s = %g, want %g", tt.name, tt.got, tt.want)
		}
	}
}
