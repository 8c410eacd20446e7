/** Who the spans come from. */
import { randomUUID } from "node:crypto";
import { defaultResource, type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import { ATTR_SERVICE_INSTANCE_ID, ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from "@opentelemetry/semantic-conventions";

/**
 * The library's own description of itself (`telemetry.sdk.*`), the operator's name, our version, and an id of this start. The library's
 * detectors are not asked: they would tell names of host and user, command lines, and OTEL_RESOURCE_ATTRIBUTES.
 */
export const resourceOf = (name: string, version: string): Resource =>
  defaultResource().merge(
    resourceFromAttributes({
      [ATTR_SERVICE_NAME]: name,
      [ATTR_SERVICE_VERSION]: version,
      [ATTR_SERVICE_INSTANCE_ID]: randomUUID(),
    }),
  );
