/** A channel nobody can listen to. */
export const requestChannel = { hasSubscribers: false, publish(_message: unknown): void {} };
