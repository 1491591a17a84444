// Requests to a table that is elsewhere, at a server that has just begun and has seen nothing of it: how many round trips each makes,
// one after the other.
// SPDX-License-Identifier: Apache-2.0
import { firstWrites } from './round-trips-world.mjs';

firstWrites('social', {});
