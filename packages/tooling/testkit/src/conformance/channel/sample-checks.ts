/** `svc webhook send`: a delivery of our own making, as good as the platform's. And the paths that the manifest names. */
import { type Check, demand } from "../../check.ts";
import { manifestOf } from "../manifest.ts";
import { countOf, demandGenuine, demandRefused, endpointOf, idsOf, NOW_MS, rawOf } from "./delivered.ts";
import { type Bench, withChannel } from "./open.ts";
import { demandNoSecret, withOtherSecrets } from "./secrets.ts";

const TEXT = 'A sample: "quotes", \\ and\n👋';

export function sampleChecks(bench: Bench): Check[] {
  const { definition, subject } = bench;
  return [
    {
      name: "sample makes a delivery that verify takes and that carries the text",
      run: () =>
        withChannel(bench, async (opened) => {
          const { ingress, deliveries } = endpointOf(opened, subject);
          const { sample } = ingress;
          demand(sample !== undefined, "there is no sample(): svc webhook send can't try the set-up");
          const made = (more: { id?: string; from?: string } = {}) =>
            rawOf(sample.call(ingress, { text: TEXT, id: "sample-1", atMs: NOW_MS, ...more }), NOW_MS, ingress.path);
          demandGenuine(ingress.verify(made()), "a sample");
          const parsed = ingress.parse(made());
          demand(countOf(parsed) === 1, `there are ${countOf(parsed)} messages in a sample`);
          demand(
            !isDeepEqualIds(idsOf(parsed), idsOf(ingress.parse(made({ id: "sample-2" })))),
            "two samples have one id",
          );
          demand(ingress.methods.includes(made().method as "POST"), "its method is none of the path's");
          if (deliveries.notifies === true) return;
          demand(parsed.inbound?.[0]?.text === TEXT, "its text is another");
          const fromPerson = ingress.parse(made({ from: deliveries.person }));
          demand(countOf(fromPerson) === 1, "the message of an allowed sender is dropped");
          demand(countOf(ingress.parse(made({ from: deliveries.stranger }))) === 0, "from a stranger it is heard");
          demandNoSecret(opened.secrets, "the body of a sample", Buffer.from(made().body).toString());
        }),
    },
    {
      name: "a sample made with other secrets is refused",
      async run() {
        let stolen: ReturnType<typeof rawOf> | undefined;
        const make = async (opened: Parameters<typeof endpointOf>[0]) => {
          const { ingress } = endpointOf(opened, subject);
          const sample = ingress.sample?.({ text: TEXT, id: "sample-1", atMs: NOW_MS });
          stolen = sample && rawOf(sample, NOW_MS, ingress.path);
        };
        await withChannel(bench, make, (section) => withOtherSecrets(definition, section));
        await withChannel(bench, async (opened) => {
          if (stolen)
            demandRefused(endpointOf(opened, subject).ingress.verify(stolen), "a sample made with other secrets");
        });
      },
    },
  ];
}

const isDeepEqualIds = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.join("\n") === other.join("\n");

export const pathChecks = (bench: Bench): Check[] => [
  {
    name: "the manifest names exactly the paths that the channel takes deliveries on",
    run: () =>
      withChannel(bench, async ({ made }) => {
        const paths = (made.ingress ?? []).map(({ path }) => path).toSorted();
        const { ingress: all } = manifestOf(bench.subject.root).manifest;
        const others = bench.subject.pathsOfOtherParts ?? [];
        const declared = all.filter((path) => !others.includes(path)).toSorted();
        // A path may be that of another mode: one that polls here may be posted to elsewhere.
        const hasOther = bench.subject.arrivals !== undefined && paths.length === 0;
        demand(
          hasOther || paths.join() === declared.join(),
          `it has [${paths.join(", ")}], the manifest [${declared.join(", ")}]`,
        );
        for (const path of paths) demand(/^(?:\/[a-z0-9-]+)+$/.test(path), `${path} is no plain path`);
        demand(
          (made.ingress ?? []).every(({ methods }) => methods.length > 0),
          "a path takes no method",
        );
        const isHandedIn = bench.subject.deliveries !== undefined;
        demand(isHandedIn === paths.length > 0, "hand in `deliveries` for a channel with an ingress, and only for one");
      }),
  },
];
