/** Who we are there, once the platform has told. */
export interface Self {
  readonly userId: string | undefined;
  readonly name: string | undefined;
}

export interface KnownSelf extends Self {
  /** From `auth.test`. */
  learn(self: Self): void;
}

export function unknownSelf(): KnownSelf {
  let known: Self = { userId: undefined, name: undefined };
  return {
    get userId() {
      return known.userId;
    },
    get name() {
      return known.name;
    },
    learn(self) {
      known = self;
    },
  };
}
