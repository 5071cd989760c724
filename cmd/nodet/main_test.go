package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCalledByVet(t *testing.T) {
	require.True(t, calledByVet([]string{"-V=full"}))
	require.True(t, calledByVet([]string{"-flags"}))
	require.True(t, calledByVet([]string{"-json", "vet.cfg"}))
	require.False(t, calledByVet(nil))
	require.False(t, calledByVet([]string{"./raft/...", "./sim"}))
}
