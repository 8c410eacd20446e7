// The suite of all sandboxes, with the real podman and an image that holds nothing but busybox.
import { sandboxConformance } from "@svc/testkit";
import { afterAll } from "vitest";
import definition from "../src/index.ts";
import { makeImage, missingPart } from "./image.ts";

const missing = await missingPart();
const image = missing ? undefined : makeImage(["podman"]);
afterAll(() => image?.[Symbol.dispose]());

sandboxConformance(definition, {
  missing: () => missing,
  config: { container_image: image?.name },
  ownSystem: true,
});
