"""Programs, formulas, trees and texts."""
