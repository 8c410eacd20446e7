import type { Contributions, FeatureContext } from "@svc/contract";
import { createContainers } from "./backend.ts";

/** The whole section, as core's schema validates it. */
interface Section {
  readonly container_image?: string;
}

export const create = ({ config, clock, homeFolder, log }: FeatureContext<Section>): Contributions => ({
  sandbox: createContainers({ image: config.container_image ?? DEFAULT_IMAGE, clock, homeFolder, log }),
});

/** Small, and what most commands are written for. Used when it is on this machine already. */
const DEFAULT_IMAGE = "debian:stable-slim";
