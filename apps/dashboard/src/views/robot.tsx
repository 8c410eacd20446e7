/** The robot: state, sensors, a stop button, and the simulated room from above. */
import { Button } from "../components/button.tsx";
import { Confirmed } from "../components/dialog.tsx";
import { Facts, Heading } from "../components/layout.tsx";
import { Problem, Shown } from "../components/shown.tsx";
import { type Column, Table } from "../components/table.tsx";
import { ServiceText } from "../components/text.tsx";
import { Ago, Badge } from "../components/values.tsx";
import { useServices } from "../services.ts";
import { useAction } from "../state/use-action.ts";
import { useList } from "../state/use-reader.ts";
import { useTick } from "../state/use-window.ts";
import { number, t, wordOf } from "../texts/texts.ts";

interface Sensor {
  readonly name: string;
  readonly angle: number;
  readonly value: number | boolean | null;
  readonly age_ms: number | null;
}

interface Scene {
  readonly width: number;
  readonly height: number;
  readonly obstacles: readonly { readonly x: number; readonly y: number; readonly radius: number }[];
  readonly robot: { readonly x: number; readonly y: number; readonly heading: number; readonly radius: number };
}

interface Robot {
  readonly state: "idle" | "moving" | "latched" | "unmonitored";
  readonly movement: { readonly direction: string; readonly speed: number } | null;
  readonly latch: { readonly by: string; readonly at: string } | null;
  readonly last_stop: {
    readonly at: string;
    readonly message: string;
    readonly layer: number | null;
    readonly confirmed: boolean;
  } | null;
  readonly distances: readonly Sensor[];
  readonly bumpers: readonly Sensor[];
  readonly scene: Scene | null;
}

const COLUMNS: readonly Column<Sensor>[] = [
  { label: "robot.sensor", cell: ({ name }) => name },
  { label: "robot.angle", cell: ({ angle }) => `${angle}°`, narrow: true },
  { label: "robot.reading", cell: ({ value }) => readingOf(value), narrow: true },
  {
    label: "robot.age",
    cell: ({ age_ms: age }) => (age === null ? "" : t("robot.milliseconds", { age })),
    narrow: true,
  },
];

/** Movement emits no event. */
const REFRESH_MS = 500;

export function Robot() {
  const robot = useList<Robot>("/api/safety", ["safety"]);
  useTick(REFRESH_MS, () => void robot.refresh());
  const { api } = useServices();
  const post = (path: string, body: object): Promise<unknown> =>
    api.call(path, { method: "POST", body }).finally(() => void robot.refresh());
  const stop = useAction(() => post("/api/safety/stop", {}));
  return (
    <>
      <Heading title={t("robot.robot")}>
        <span class="buttons">
          <Button kind="main" busy={stop.isRunning} onPress={() => void stop.run()}>
            {t("common.stop")}
          </Button>
          {robot.data?.state === "latched" ? (
            <Confirmed
              text={t("robot.reset")}
              question={t("robot.reset-question")}
              act={() => post("/api/safety/reset", {})}
            >
              <p>{t("robot.reset-effect")}</p>
            </Confirmed>
          ) : (
            <Confirmed
              text={t("robot.emergency-stop")}
              question={t("robot.latch-question")}
              act={() => post("/api/safety/stop", { latch: true })}
            >
              <p>{t("robot.latch-effect")}</p>
            </Confirmed>
          )}
        </span>
      </Heading>
      {stop.error && <Problem error={stop.error} />}
      <Shown read={robot}>
        {({ state, movement, latch, last_stop: last, scene, distances, bumpers }) => (
          <>
            <Facts
              facts={[
                [t("common.state"), <Badge key="state" state={state} busy={state === "moving"} />],
                [t("robot.movement"), movement ? movementOf(movement) : t("common.none")],
                [t("robot.latched-by"), latch ? latch.by : undefined],
                [
                  t("robot.last-stop"),
                  last ? (
                    <>
                      <ServiceText>{last.message}</ServiceText>{" "}
                      {last.layer !== null && `${t("robot.layer", { layer: last.layer })} `}
                      {!last.confirmed && `${t("robot.unconfirmed")} `}
                      <Ago at={last.at} />
                    </>
                  ) : undefined,
                ],
              ]}
            />
            {scene && <Room scene={scene} />}
            <Table
              label={t("robot.sensors")}
              columns={COLUMNS}
              rows={[...distances, ...bumpers]}
              keyOf={({ name }) => name}
            />
          </>
        )}
      </Shown>
    </>
  );
}

function Room({ scene: { width, height, obstacles, robot } }: { readonly scene: Scene }) {
  const { x, y, heading, radius } = robot;
  return (
    <svg class="robot-room" role="img" aria-label={t("robot.room")} viewBox={`0 0 ${width} ${height}`}>
      {obstacles.map((one) => (
        <circle key={`${one.x} ${one.y}`} class="obstacle" cx={one.x} cy={one.y} r={one.radius} />
      ))}
      <g class="robot" transform={`translate(${x} ${y}) rotate(${heading})`}>
        <circle r={radius} />
        <line x1={0} y1={0} x2={radius * 1.6} y2={0} />
      </g>
    </svg>
  );
}

const decimals = (value: number): string => number(value, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

function movementOf({ direction, speed }: NonNullable<Robot["movement"]>): string {
  return t("robot.moves", { direction: wordOf(direction), speed: decimals(speed) });
}

function readingOf(value: Sensor["value"]): string {
  if (typeof value === "number") return t("robot.metres", { value: decimals(value) });
  if (value === null) return t("robot.nothing-within-range");
  return value ? t("robot.pressed") : t("robot.free");
}
