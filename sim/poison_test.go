package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
)

// box is a message that a careless program can change.
type box struct{ msg }

// careless is a program for each way to touch memory that was given away or only borrowed.
var careless = map[string]func() (n1, n2 func(env *sim.Env, in *sim.Input) error){
	"a buffer given to a disk write was changed": func() (n1, n2 func(env *sim.Env, in *sim.Input) error) {
		buffer := make([]byte, 8)
		return func(env *sim.Env, _ *sim.Input) error {
			fd, err := env.Files().Open("/f", true)
			if err != nil {
				return err
			}
			buffer[0]++
			return env.Files().WriteAt(fd, buffer, 0)
		}, nil
	},
	"kind 1 key 2 was changed after it was sent": func() (n1, n2 func(env *sim.Env, in *sim.Input) error) {
		reused := &box{msg{1, 1}}
		return func(env *sim.Env, _ *sim.Input) error {
			env.SendTo("n2", 1, reused)
			reused.key++
			return nil
		}, nil
	},
	"kind 1 key 7 was changed after it was sent": func() (n1, n2 func(env *sim.Env, in *sim.Input) error) {
		return func(env *sim.Env, _ *sim.Input) error {
				env.SendTo("n2", 1, &box{msg{1, 1}})
				return nil
			}, func(_ *sim.Env, in *sim.Input) error {
				in.Msg.(*box).key = 7 // what the receiver gets is the sender's message
				return nil
			}
	},
}

func TestPoisonCatchesSharedMemory(t *testing.T) {
	for complaint, make := range careless {
		t.Run(complaint, func(t *testing.T) {
			l := func() lab {
				n1, n2 := make()
				return func(w *sim.World) {
					w.Install(w.Host("n1"), func() sim.Process {
						return every(ms, func(env *sim.Env, _ int64) error { return n1(env, &sim.Input{}) })
					})
					w.Install(w.Host("n2"), func() sim.Process {
						return &program{
							boot: func(env *sim.Env) error { env.Listen(1, 0); return nil },
							input: func(env *sim.Env, in *sim.Input) error {
								if n2 == nil {
									return nil
								}
								return n2(env, in)
							},
						}
					})
				}
			}
			_, err := l().engine().Run(labPlan(1), sim.Options{})
			require.NoError(t, err, "nothing is seen without the mode")
			defer func() { require.Contains(t, recover(), complaint) }()
			_, err = l().engine().Run(labPlan(1), sim.Options{Poison: true})
			t.Fatalf("not caught: %v", err)
		})
	}
}

func TestPoisonOverwritesTheInput(t *testing.T) {
	for _, poison := range []bool{false, true} {
		var kept *sim.Input
		from := ""
		l := lab(func(w *sim.World) {
			w.Install(w.Host("n1"), func() sim.Process {
				return &program{
					boot:  func(env *sim.Env) error { env.WakeAt(ms); return nil },
					input: func(_ *sim.Env, in *sim.Input) error { kept = in; return nil },
				}
			})
			w.At(2*ms, 1, 1, func() { from = kept.From })
		})
		_, err := l.engine().Run(labPlan(1), sim.Options{Poison: poison})
		require.NoError(t, err)
		require.Equal(t, poison, from != "")
	}
}

func TestTwoLanesMayNotWriteOneFileAtATime(t *testing.T) {
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			var fd int32
			return &program{
				boot: func(env *sim.Env) (err error) {
					env.Lanes("a", "b")
					env.Post(0, msg{1, 1})
					env.Post(1, msg{1, 2})
					fd, err = env.Files().Open("/f", true)
					return err
				},
				input: func(env *sim.Env, _ *sim.Input) error { return env.Files().WriteAt(fd, []byte("x"), 0) },
			}
		})
	})
	require.PanicsWithValue(t, "sim: lanes b and a change /f at one time", func() { l.run(t, labPlan(1)) })
}
