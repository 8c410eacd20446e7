/** What two instances must not share. One fake each. */
import { type Broken, sound } from "./feature.ts";

const shared = { sockets: new Map<string, string>() };
const counted = Object.assign(() => Promise.resolve({}), { calls: 0 });
const rows: string[] = [];
const since = new Date(0);

export const BROKEN_SHARING: readonly Broken[] = [
  [
    "state between instances",
    { create: () => ({ ...sound(), channel: { send: () => Promise.resolve({}), shared } as never }) },
    ["two instances share nothing that can change"],
  ],
  [
    "one frozen Map for all",
    {
      create: () => ({
        ...sound(),
        observer: { record: () => undefined, seen: Object.freeze(shared.sockets) } as never,
      }),
    },
    ["two instances share nothing that can change"],
  ],
  ["a table at module level", { package: { imports: "const seen = new Map();" } }, ["its modules keep no state"]],
  [
    "a variable in the entry",
    { package: { entry: "let loads = 0; export const load = () => (loads += 1);" } },
    ["its modules keep no state"],
  ],
  [
    "a shared function with a property",
    { create: () => ({ ...sound(), channel: { send: counted } }) },
    ["two instances share nothing that can change"],
  ],
  [
    "a list that a getter gives",
    {
      create: () =>
        Object.defineProperty(sound(), "observer", {
          get: () => ({ record: () => undefined, rows }),
          enumerable: true,
        }),
    },
    ["two instances share nothing that can change"],
  ],
  [
    "a Map deep down, below what is frozen, under a symbol",
    {
      create: () => {
        let deep: object = Object.freeze({ [Symbol("kept")]: shared.sockets });
        for (let depth = 0; depth < 20; depth += 1) deep = Object.freeze([deep]);
        return { ...sound(), observer: { record: () => undefined, deep } as never };
      },
    },
    ["two instances share nothing that can change"],
  ],
  [
    "a Date that both hold",
    { create: () => ({ ...sound(), observer: { record: () => undefined, since } as never }) },
    ["two instances share nothing that can change"],
  ],
];
