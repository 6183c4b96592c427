import { channel } from 'node:diagnostics_channel';

/** Every request of every node, while somebody listens. */
export const requestChannel = channel('blockyard:request');
