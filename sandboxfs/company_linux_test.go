package sandboxfs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// SeekCompany has every leader bring itself together with who asks at each
// request.
func (v *View) SeekCompany() { v.transport.company = company{} }

func TestCompanyIsSoughtWhileApart(t *testing.T) {
	c, now := newCompany(), time.Now()
	for range apartEnough {
		require.False(t, c.wanted(now), "one request is no reason")
		c.waited(40 * time.Microsecond)
	}
	require.True(t, c.wanted(now))
	require.False(t, c.wanted(now), "not twice for the same")
}

func TestCompanyIsNotSoughtWhileTogether(t *testing.T) {
	c, now := newCompany(), time.Now()
	for range 1000 {
		c.waited(40 * time.Microsecond)
		c.waited(time.Microsecond)
		c.waited(time.Microsecond)
		require.False(t, c.wanted(now), "mostly together")
	}
}

func TestCompanyIsNotSoughtForWhoHasNothingToAsk(t *testing.T) {
	c, now := newCompany(), time.Now()
	for range 1000 {
		c.waited(time.Millisecond)
		require.False(t, c.wanted(now))
	}
}

// In vain it is sought less and less often; once together, soon again.
func TestCompanyPauses(t *testing.T) {
	c, now := newCompany(), time.Now()
	beApart := func() {
		for range apartEnough {
			c.waited(40 * time.Microsecond)
		}
	}
	for pause := leastPause; pause <= mostPause; pause *= 2 {
		beApart()
		require.True(t, c.wanted(now))
		beApart()
		require.False(t, c.wanted(now.Add(pause-1)), "pause of %v", pause)
		now = now.Add(pause)
	}
	require.True(t, c.wanted(now))
	for range togetherEnough {
		c.waited(time.Microsecond)
	}
	now = now.Add(mostPause)
	beApart()
	require.True(t, c.wanted(now))
	beApart()
	require.True(t, c.wanted(now.Add(leastPause)))
}
