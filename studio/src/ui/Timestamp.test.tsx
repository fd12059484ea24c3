import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { Interpolate } from "./Interpolate";
import { Timestamp, utc } from "./Timestamp";

afterEach(cleanup);

const AT = "2026-03-03T14:30:00+00:00";

test("shows local time with UTC as tooltip", () => {
  for (const as of ["ago", "moment", "clock", "day"] as const) {
    render(<Timestamp at={AT} as={as} />);
    const time = document.querySelector("time")!;
    expect(time.title).toContain("2026-03-03 14:30:00 UTC");
    expect(time.textContent).not.toContain("UTC");
    cleanup();
  }
  render(<Timestamp at={AT} as="moment" />);
  expect(document.querySelector("time")!.textContent).toBe(
    new Date(AT).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" }),
  );
  expect(utc(new Date("2026-03-03T14:30:00.120Z"))).toBe("2026-03-03 14:30:00.120 UTC");
});

test("replaces placeholders by elements", () => {
  render(
    <p>
      <Interpolate
        sentence="Waits until {due} at {activity}."
        parts={{ due: <b>noon</b>, activity: <a href="#x">Delay</a> }}
      />
    </p>,
  );
  expect(screen.getByRole("paragraph").textContent).toBe("Waits until noon at Delay.");
  expect(screen.getByRole("link").textContent).toBe("Delay");
});
