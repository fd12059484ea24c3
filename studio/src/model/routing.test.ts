import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Rows } from "./routing";

describe("rows", () => {
  const box = fc.record({
    x: fc.integer({ min: -500, max: 500 }),
    y: fc.integer({ min: -500, max: 500 }),
    height: fc.integer({ min: 8, max: 300 }),
  });

  it("finds the same boxes between two heights as a linear scan", () => {
    fc.assert(
      fc.property(
        fc.array(box, { maxLength: 40 }),
        fc.integer({ min: -600, max: 600 }),
        fc.integer({ min: 0, max: 400 }),
        (boxes, top, deep) => {
          const all = boxes.map(({ x, y, height }, index) => ({
            id: `${index}`,
            left: x,
            right: x + 232,
            top: y,
            bottom: y + height,
          }));
          const plain = all.filter((item) => item.bottom > top && item.top < top + deep).map((item) => item.id);
          const found = new Rows([...all]).between(top, top + deep).map((item) => item.id);
          expect(found.sort()).toEqual(plain.sort());
        },
      ),
    );
  });
});
