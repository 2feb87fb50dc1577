/**
 * What the tables of this process mix into their hashes. It changes where something stands in them, and
 * nothing else: senders choose their ids, and with a hash that they know they could choose a hundred
 * thousand that all belong in one place, where each look-up passes all the others.
 */
export const HASH_SALT = Math.trunc(Math.random() * 2 ** 32) | 0;
