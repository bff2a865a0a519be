// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "report/text.hpp"

// Tables of texts, for every face: a terminal, a page, Markdown.
namespace joust::report {

struct Table {
  struct Column {
    std::string title{};
    bool text = false;  // aligned to the left; numbers are aligned to the right
    // On a terminal:
    std::size_t gap = 2;      // blanks before it
    std::string group{};      // above neighbouring columns that share it
    bool decoration = false;  // left out first where there is no room
  };
  struct Row {
    std::vector<std::string> cells{};
    Paint paint = Paint::plain;
    std::string remark{};  // free text behind the cells; the row has fewer of them then
  };
  std::vector<Column> columns{};
  std::vector<Row> rows{};
  std::size_t leading = 1;           // columns that identify a row
  std::vector<std::string> notes{};  // below it

  bool empty() const { return rows.empty(); }
};

// Lays out a table for a terminal. Columns are as wide as their widest cell, under one or two lines of
// titles. If the terminal is too narrow for all columns, decoration is left out first. Groups that still do
// not fit follow in a block of their own below, which repeats the leading columns.
std::string terminal_text(const Table& table, const Terminal& terminal);

// A table of columns that each know their cell, for rows that are made of a `Subject`.
template <typename Subject>
class TableOf {
 public:
  using Cell = std::function<std::string(const Subject&)>;

  void add(Table::Column column, Cell cell) {
    table.columns.push_back(std::move(column));
    cells_.push_back(std::move(cell));
  }
  void row(const Subject& subject, Paint paint = Paint::plain) {
    Table::Row& row = table.rows.emplace_back();
    row.paint = paint;
    for (const Cell& cell : cells_) row.cells.push_back(cell(subject));
  }

  Table table{};

 private:
  std::vector<Cell> cells_{};
};

// Returns a table with a row for each name `down` and a column for each name `across`.
Table crossed(const std::string& corner, const std::vector<std::string>& down,
              const std::vector<std::string>& across,
              const std::function<std::string(std::size_t row, std::size_t column)>& cell);

// A contestant, by its number, in the row of its client and the column of its server.
struct Crossing {
  std::string client{}, server{};
  std::size_t number = 0;
};

// Removes contestants that are alone with their client or their server: they are beside the matrix.
void drop_lonely(std::vector<Crossing>& all);

// Returns a table with a row for each client and a column for each server; empty if there are none.
Table crossed(const std::vector<Crossing>& all, const std::function<std::string(std::size_t number)>& cell);

}  // namespace joust::report
