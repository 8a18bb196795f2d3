"""Matches by area recall and area precision for many thresholds at once: what graphs and grids are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from evaltex_cli.protocols.area_matching import Pairs, Rules, Scene, Thresholds, Weights, match, weights_of
from evaltex_cli.records import Floats, Ints

TILED_PAIRS = 1 << 19
"""So many pairs, counted once a setting, are matched at a time."""


def credits_by_setting(
    found: Scene, gt_image: Ints, images: int, rules: Rules, thresholds: Thresholds, weights: Weights
) -> tuple[Floats, Floats]:
    """Sum credits by image, for many settings at once.

    Parameters
    ----------
    found : Scene
    gt_image : (G,) int64
        Image of each object.
    rules : Rules
        With `several_overlaps`.
    thresholds : Thresholds
        (k,) each.

    Returns
    -------
    (images, k), (images, k) float64
        Credits towards recall and towards precision.

    Notes
    -----
    A pair that overlaps nothing else matches one-to-one or not at all, which is a comparison. All other pairs are laid
    out once for each setting, and matched as if these were so many pictures.
    """
    pairs, settings = found.pairs, len(thresholds.one_to_one_recall)
    thresholds = thresholds.astype(pairs.recall.dtype)
    isolated = (np.bincount(pairs.gt)[pairs.gt] == 1) & (np.bincount(pairs.det)[pairs.det] == 1)
    alone = pairs[isolated & pairs.counts & pairs.near]
    sigma, tau = alone.recall[:, None], alone.precision[:, None]
    if rules.separate_tests:
        passes = (sigma > thresholds.one_to_one_recall) & (tau > thresholds.one_to_one_precision)
    else:
        passes = (sigma >= thresholds.one_to_one_recall) & (tau >= thresholds.one_to_one_precision)
    pair, setting = np.nonzero(passes)
    ones = np.bincount(gt_image[alone.gt[pair]] * settings + setting, minlength=images * settings).astype(np.float64)
    recall, precision = ones, ones.copy()
    for cell, tiles, weight in _tiled(pairs[~isolated], gt_image, rules, thresholds, weights):
        matched = np.flatnonzero(weight)
        for side, sums in ((tiles.gt, recall), (tiles.det, precision)):
            member = matched[np.unique(side[matched], return_index=True)[1]]
            np.add.at(sums, cell[member], weight[member])
    return recall.reshape(images, settings), precision.reshape(images, settings)


def _tiled(
    pairs: Pairs, gt_image: Ints, rules: Rules, thresholds: Thresholds, weights: Weights
) -> Iterator[tuple[Ints, Pairs, Floats]]:
    """Yield pairs repeated for some settings, each with its cell (image, setting) and weight."""
    if not len(pairs.gt):
        return
    image, settings = gt_image[pairs.gt], len(thresholds.one_to_one_recall)
    gts, gt = np.unique(pairs.gt, return_inverse=True)
    dets, det = np.unique(pairs.det, return_inverse=True)
    step = max(1, TILED_PAIRS // len(gt))
    for start in range(0, settings, step):
        setting = np.arange(start, min(start + step, settings)).repeat(len(gt))
        copies = len(setting) // len(gt)
        shift = setting - start
        tiles = replace(
            pairs[np.tile(np.arange(len(gt)), copies)],
            gt=np.tile(gt, copies) + shift * len(gts),
            det=np.tile(det, copies) + shift * len(dets),
        )
        relation = match(tiles, rules, thresholds[setting])
        yield np.tile(image, copies) * settings + setting, tiles, weights_of(tiles, relation, weights)
