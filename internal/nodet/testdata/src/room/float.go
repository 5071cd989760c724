package room

import "math"

type measured struct {
	ratio  float64   // want `\[float\] float64 is of type float64`
	points []float32 // want `\[float\] float32 is of type float32`
	bits   uint64
	count  int64
}

const half = 0.5 // want `\[float\] 0.5 is of type untyped float`

const billion = 1e9

func floats(n int64, x complex128) int64 { // want `\[float\] complex128 is of type complex128`
	_ = x               // want `\[float\] x is of type complex128`
	y := float64(n) * 2 // want `\[float\] float64\(n\) \* 2 is of type float64`
	if y > 3 {          // want `\[float\] y is of type float64` `\[float\] 3 is of type float64`
		return n
	}
	return int64(math.Sqrt(4)) // want `\[float\] math.Sqrt\(4\) is of type float64`
}

// A constant that ends as an integer is an integer, and bits are carried as such.
func integers(m measured) int64 {
	return int64(1e6) + 3*1e3 + int64(m.bits>>1) + m.count*billion
}
