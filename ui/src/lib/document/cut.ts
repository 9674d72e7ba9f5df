// A block of a long text that is drawn in slices.

import type { CopyOf } from '../bindings/api';

/** How a block is cut. */
export interface Cut {
  /** Copies the whole block. */
  copy: CopyOf;
  /** The block began in the slice before. */
  continues: boolean;
  /** The block goes on in the next slice. */
  isContinued: boolean;
}
