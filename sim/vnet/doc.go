// Package vnet simulates the network between hosts: connections, datagrams, links, cuts.
//
// # Model
//
// A link is an ordered pair of hosts. Every packet takes the link's latency (a base, a uniform jitter, now and then a
// long tail, and what a clog adds), at least a microsecond. Time belongs to the caller: Net computes when something
// arrives, hands that to the Scheduler, and is asked with Arrive when the time has come.
//
// Stream transport: a connection joins one incarnation of a client to one incarnation of a server. It opens with a round
// trip, is FIFO in each direction, and is
//
//   - refused, when the host is powered but nothing listens, or the name does not resolve: the client learns after a
//     round trip;
//   - reset, when a process dies on a powered host: the peer learns after a latency, unless the way back is cut;
//   - half open, after power loss or behind a cut: nobody learns until somebody sends towards a powered host, whose
//     kernel answers with a reset.
//
// A cut holds packets back (the kernel retransmits); mending lets them go. A message that a filter catches is held back the
// same way, with everything behind it.
//
// A link may have a bandwidth and a queue: packets leave one after the other, wait for each other, and find the queue full, which loses
// a datagram and makes a connection send again after a retransmission timer. Hosts in different racks may be farther apart.
//
// Datagram transport: each message alone may be lost, duplicated or overtaken; a cut or a filter loses it.
//
// # Use
//
// The world drives a Net; a program sees it through sim.Env alone. A message from one host to another:
//
//	id := net.Reserve(client, boot, lane)            // a number for the connection, at once
//	net.Open(nowNs, id, server, port, cause)         // its outcome arrives as a packet
//	net.Send(nowNs, id, vnet.Client, m, cause)       // calls Schedule(atNs, packet, entity, key)
//	net.Arrive(atNs, packet, &delivery)              // at that time: what it was, and for whom
//
// # Not modelled
//
// Congestion control, partial messages (a message arrives whole or not at all), and routing: there are only pairs.
package vnet
